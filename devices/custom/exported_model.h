#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string_view>

#include "devices/custom/custom_compiled_model.h"
#include "inference/model/exported_file.h"

namespace het::custom {

/// The content of an exported model of a library's device: what the host knows, and the bytes of
/// the library.
struct ExportedModel {
  CompiledParts parts;
  std::span<const std::byte> content;
  BufferPtr memory;  ///< that content lies in
};

/// `kind` is the device's, "NPU". Fails with Internal when the stream does.
Status write_exported_model(std::ostream& stream, std::string_view kind, const CompiledParts& parts,
                            std::span<const std::byte> content);

/// Whatever is in the file, ports have a type that libraries know and all their sizes. Fails with
/// ParseError for a damaged file, with NotSupported for one of another device or version.
Result<ExportedModel> read_exported_model(std::istream& stream, std::string_view kind);

}  // namespace het::custom
