#include "inference/tensors/buffer.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <utility>

namespace het {
namespace {

class OwnHostBuffer final : public Buffer {
 public:
  OwnHostBuffer(std::byte* address, size_t size_bytes)
      : Buffer(MemoryKind::Host, size_bytes, address, {}) {}
  ~OwnHostBuffer() override { std::free(host()); }
};

class WrappedHostBuffer final : public Buffer {
 public:
  WrappedHostBuffer(std::byte* address, size_t size_bytes, std::function<void()> release)
      : Buffer(MemoryKind::Host, size_bytes, address, {}), release_(std::move(release)) {}
  ~WrappedHostBuffer() override {
    if (release_) release_();
  }

 private:
  std::function<void()> release_;
};

}  // namespace

std::string_view to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Host:
      return "host";
    case MemoryKind::DmaBuf:
      return "DMA-BUF";
    case MemoryKind::VaSurface:
      return "VA surface";
    case MemoryKind::OpenClBuffer:
      return "OpenCL buffer";
    case MemoryKind::OpenClImage:
      return "OpenCL image";
    case MemoryKind::CustomDevice:
      return "custom device";
  }
  return "unknown";
}

Result<std::byte*> Buffer::map(MapAccess) {
  if (host_ == nullptr && size_bytes_ > 0) {
    return error(StatusCode::NotSupported, "cannot map {} memory to the host", to_string(kind_));
  }
  return host_;
}

void Buffer::unmap() {}

Result<BufferPtr> allocate_host_buffer(size_t size_bytes) {
  if (size_bytes > std::numeric_limits<size_t>::max() - kHostAlignment) {
    return error(StatusCode::OutOfMemory, "cannot allocate {} bytes", size_bytes);
  }
  const size_t padded =
      std::max(kHostAlignment, (size_bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment);
  void* address = std::aligned_alloc(kHostAlignment, padded);
  if (address == nullptr) {
    return error(StatusCode::OutOfMemory, "cannot allocate {} bytes of host memory", size_bytes);
  }
  return std::make_shared<OwnHostBuffer>(static_cast<std::byte*>(address), size_bytes);
}

BufferPtr wrap_host_memory(void* address, size_t size_bytes, std::function<void()> release) {
  return std::make_shared<WrappedHostBuffer>(static_cast<std::byte*>(address), size_bytes,
                                             std::move(release));
}

}  // namespace het
