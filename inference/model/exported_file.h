#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/tensors/buffer.h"

namespace het {

/// A named piece of an exported model.
struct ExportedSection {
  std::string name;
  std::span<const std::byte> content;
};

/// The file of CompiledModel::export_model(): a line of text with format and version, a table of
/// sections as JSON with its checksum, then the sections one behind the other, each beginning at a
/// multiple of kHostAlignment and with a checksum of its own. What the sections hold is the
/// device's business. Immutable; thread-safe.
class HET_API ExportedFile {
 public:
  static constexpr int kVersion = 1;
  static constexpr size_t kMostSections = 65536;
  static constexpr size_t kMostTableBytes = size_t{16} << 20;

  /// For a fuzzer, which would never get past the first damaged byte.
  enum class Checksums : uint8_t { Verify, Ignore };

  /// Fails with Internal when the stream does.
  static Status write(std::ostream& stream, std::string_view device,
                      const std::vector<ExportedSection>& sections);
  /// From the stream's position on; it must be able to seek. Fails with ParseError for what is no
  /// such file, truncated or damaged, with NotSupported for another version or device.
  static Result<ExportedFile> read(std::istream& stream, std::string_view device,
                                   Checksums checksums = Checksums::Verify);
  /// The same of a file that lies in memory, such as a mapped one: nothing is copied, and sections
  /// are as far from its begin as in the file.
  static Result<ExportedFile> view(BufferPtr content, std::string_view device,
                                   Checksums checksums = Checksums::Verify);

  const std::vector<ExportedSection>& sections() const { return sections_; }
  /// Fails with ParseError when there is none of that name.
  Result<std::span<const std::byte>> section(std::string_view name) const;
  /// The memory that the sections lie in.
  const BufferPtr& buffer() const { return buffer_; }

 private:
  BufferPtr buffer_;
  std::vector<ExportedSection> sections_;
};

}  // namespace het
