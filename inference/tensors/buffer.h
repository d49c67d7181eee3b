#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Where bytes live. The core passes kinds on without looking inside. Tensors in the memory of a
/// device of a user's library (CustomDevice) are Host to everybody else.
enum class MemoryKind : uint8_t {
  Host,
  DmaBuf,
  VaSurface,
  OpenClBuffer,
  OpenClImage,
  CustomDevice
};

HET_API std::string_view to_string(MemoryKind kind);

/// DMA-BUF file descriptors, one per plane at most; owned by whoever owns the Buffer.
struct DmaBufHandle {
  std::vector<int> fds;
  uint64_t drm_modifier = 0;
};

/// A VA surface together with the display that it belongs to.
struct VaSurfaceHandle {
  void* display = nullptr;  ///< VADisplay
  uint32_t surface = 0;     ///< VASurfaceID
};

/// A cl_mem of a context that the application or a device owns.
struct OpenClHandle {
  void* memory = nullptr;  ///< cl_mem
  void* queue = nullptr;   ///< cl_command_queue the content is ordered by, or null
};

using MemoryHandle = std::variant<std::monostate, DmaBufHandle, VaSurfaceHandle, OpenClHandle>;

enum class MapAccess : uint8_t { Read, Write, ReadWrite };

/// A reference-counted piece of memory of any kind. Immutable description, mutable content;
/// whoever uses the content from several threads orders the accesses. Destruction runs the
/// release callback of wrapped memory exactly once.
class HET_API Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  MemoryKind kind() const { return kind_; }
  size_t size_bytes() const { return size_bytes_; }
  /// What a device needs to reach memory that is not host memory.
  const MemoryHandle& handle() const { return handle_; }
  /// Host address while the memory is host-addressable without mapping, else null.
  std::byte* host() const { return host_; }

  /// Makes the content addressable by the host until unmap(); host memory is always mapped.
  /// Fails with NotSupported where the kind cannot be mapped, DeviceLost where its owner is gone.
  virtual Result<std::byte*> map(MapAccess access);
  virtual void unmap();

 protected:
  Buffer(MemoryKind kind, size_t size_bytes, std::byte* host, MemoryHandle handle)
      : kind_(kind), size_bytes_(size_bytes), host_(host), handle_(std::move(handle)) {}

 private:
  MemoryKind kind_;
  size_t size_bytes_;
  std::byte* host_;
  MemoryHandle handle_;
};

using BufferPtr = std::shared_ptr<Buffer>;

/// Alignment of host memory that the core allocates, in bytes: a cache line and an AVX-512 vector.
inline constexpr size_t kHostAlignment = 64;

/// Own host memory, uninitialised, aligned to kHostAlignment and padded to a multiple of it.
/// Fails with OutOfMemory.
HET_API Result<BufferPtr> allocate_host_buffer(size_t size_bytes);

/// The caller's host memory; `release` (may be empty) runs when the last user lets go, on that
/// user's thread.
HET_API BufferPtr wrap_host_memory(void* address, size_t size_bytes,
                                   std::function<void()> release = {});

}  // namespace het
