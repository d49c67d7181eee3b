#include "inference/decoders/custom_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <exception>
#include <filesystem>

namespace het {
namespace {

/// What a library of version 1 fills at least.
constexpr size_t kSmallestTable = offsetof(HetCustomDecoder, destroy) + sizeof(void*);

Result<const HetCustomDecoder*> ask_for_table(const std::string& path,
                                              HetCustomDecoderFunction function) {
  try {
    return function(HET_CUSTOM_DECODER_VERSION);
  } catch (const std::exception& failure) {
    return error(StatusCode::Internal, "custom decoder library '{}': {} threw an exception: {}",
                 path, HET_CUSTOM_DECODER_SYMBOL, failure.what());
  } catch (...) {
    return error(StatusCode::Internal, "custom decoder library '{}': {} threw an exception", path,
                 HET_CUSTOM_DECODER_SYMBOL);
  }
}

}  // namespace

Result<std::shared_ptr<const CustomLibrary>> CustomLibrary::open(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    return error(StatusCode::NotFound,
                 "custom decoder library '{}' does not exist or is no file; give the path of a "
                 "shared library in custom-postproc-lib",
                 path);
  // A name without a slash would be looked for in the system's folders.
  const std::string exact = std::filesystem::absolute(path).string();
  void* handle = dlopen(exact.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    return error(StatusCode::InvalidArgument, "cannot load custom decoder library '{}': {}", path,
                 reason != nullptr ? reason : "no reason given");
  }
  std::shared_ptr<CustomLibrary> library(new CustomLibrary(handle));
  const auto function =
      reinterpret_cast<HetCustomDecoderFunction>(dlsym(handle, HET_CUSTOM_DECODER_SYMBOL));
  if (function == nullptr)
    return error(StatusCode::InvalidArgument,
                 "custom decoder library '{}' has no symbol '{}'; export it as "
                 "inference/custom_decoder.h says",
                 path, HET_CUSTOM_DECODER_SYMBOL);
  HET_ASSIGN(const HetCustomDecoder* const table, ask_for_table(path, function));
  if (table == nullptr)
    return error(StatusCode::NotSupported,
                 "custom decoder library '{}' cannot serve version {} of the interface; build it "
                 "again with this version's inference/custom_decoder.h",
                 path, HET_CUSTOM_DECODER_VERSION);
  if (table->version == 0 || table->version > HET_CUSTOM_DECODER_VERSION)
    return error(StatusCode::NotSupported,
                 "custom decoder library '{}' is built for version {} of the interface, this is "
                 "version {}",
                 path, table->version, HET_CUSTOM_DECODER_VERSION);
  if (table->struct_size < kSmallestTable || table->decode == nullptr)
    return error(StatusCode::InvalidArgument,
                 "custom decoder library '{}' has a table of {} bytes {} decode; {} bytes and a "
                 "function decode are needed",
                 path, table->struct_size, table->decode == nullptr ? "without" : "with",
                 kSmallestTable);
  library->decoder_ = table;
  library->title_ = fmt::format("decoder '{}' of '{}'",
                                table->name != nullptr ? table->name : "without a name", path);
  return library;
}

CustomLibrary::~CustomLibrary() {
  dlclose(handle_);
}

}  // namespace het
