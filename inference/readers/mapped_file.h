#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "inference/base/status.h"
#include "inference/tensors/buffer.h"

namespace het {

/// A file mapped read-only, so that weights are referenced instead of copied and several processes
/// share their pages. Immutable; thread-safe. Somebody who shortens the file while it is in use
/// makes its readers crash (SIGBUS): models are replaced by renaming, not by overwriting.
class MappedFile {
 public:
  /// Fails with NotFound when there is no such file and with InvalidArgument when it is not a
  /// regular file (a FIFO would block) or cannot be mapped.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return {address_, size_bytes_}; }

 private:
  MappedFile(std::string path, const std::byte* address, size_t size_bytes)
      : path_(std::move(path)), address_(address), size_bytes_(size_bytes) {}

  std::string path_;
  const std::byte* address_;
  size_t size_bytes_;
};

/// Gives the pages of a mapped file that hold this memory back to the system; their content is read
/// again when somebody looks at it. Does nothing for memory that is not part of a MappedFile, and
/// for a few pages, which are not worth it.
/// For content that has been copied or packed and is not expected to be read again. Thread-safe.
void release_file_pages(std::span<const std::byte> memory);

/// As release_file_pages(), for the whole mapped file that holds this address, with all its small
/// parts. Returns the file's content: empty when the address is not of a MappedFile.
std::span<const std::byte> release_whole_file(const std::byte* address);

/// True when the address is of a MappedFile: its pages are the system's, which every process that
/// reads the file shares.
bool is_of_mapped_file(const std::byte* address);

/// A part of memory that `owner` keeps alive, as a Buffer for tensors. The part must not be
/// written.
BufferPtr reference_bytes(std::span<const std::byte> part, std::shared_ptr<const void> owner);

}  // namespace het
