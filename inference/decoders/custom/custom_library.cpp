#include "inference/decoders/custom/custom_library.h"

#include <fmt/format.h>

#include <cstddef>

namespace het {
namespace {

/// What a library of version 1 fills at least.
constexpr size_t kSmallestTable = offsetof(HetCustomDecoder, destroy) + sizeof(void*);

}  // namespace

Result<std::shared_ptr<const CustomLibrary>> CustomLibrary::open(const std::string& path) {
  std::shared_ptr<CustomLibrary> custom(new CustomLibrary);
  HET_ASSIGN(custom->library_,
             SharedLibrary::open(path, "custom decoder library", "custom-postproc-lib"));
  HET_ASSIGN(const void* const table,
             custom->library_->table(HET_CUSTOM_DECODER_SYMBOL, HET_CUSTOM_DECODER_VERSION,
                                     "inference/custom_decoder.h"));
  const auto* const decoder = static_cast<const HetCustomDecoder*>(table);
  if (decoder->struct_size < kSmallestTable || decoder->decode == nullptr) {
    return error(StatusCode::InvalidArgument,
                 "{} has a table of {} bytes {} decode; {} bytes and a function decode are needed",
                 custom->library_->title(), decoder->struct_size,
                 decoder->decode == nullptr ? "without" : "with", kSmallestTable);
  }
  custom->decoder_ = decoder;
  custom->title_ = fmt::format("decoder '{}' of '{}'",
                               decoder->name != nullptr ? decoder->name : "without a name", path);
  return custom;
}

}  // namespace het
