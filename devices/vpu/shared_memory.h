#pragma once

#include <cstddef>
#include <memory>

#include "devices/vpu/link_socket.h"
#include "inference/base/status.h"
#include "inference/tensors/buffer.h"

namespace het::vpu {

/// Memory that host and device see: a sealed memfd, which nobody can shrink under the other.
class SharedMemory final : public Buffer {
 public:
  /// Zeros. Fails with OutOfMemory.
  static Result<std::shared_ptr<SharedMemory>> create(size_t size_bytes);
  /// What the other side made. Fails with InvalidArgument for a file that is not of this size or
  /// that could still shrink.
  static Result<std::shared_ptr<SharedMemory>> open(File file, size_t size_bytes);
  SharedMemory(File file, std::byte* address, size_t size_bytes)
      : Buffer(MemoryKind::Host, size_bytes, address, {}), file_(std::move(file)) {}
  ~SharedMemory() override;

  int file() const { return file_.number(); }

 private:
  const File file_;
};

}  // namespace het::vpu
