#pragma once

#include <memory>

#include "devices/gpu/memory/context.h"
#include "inference/tensors/buffer.h"

namespace het::gpu {

/// Host memory for tensors of requests that the device reaches best: its own where memory is
/// unified (memory() is the same bytes), memory that is pinned for transfers elsewhere. Host memory
/// to everybody else. Thread-compatible.
class HostBuffer final : public Buffer {
 public:
  static Result<BufferPtr> create(std::shared_ptr<Context> context, size_t bytes);
  ~HostBuffer() override;

  /// The bytes as device memory; null where they are only pinned.
  const Memory& memory() const { return memory_; }
  const Context& context() const { return *context_; }

 private:
  HostBuffer(std::shared_ptr<Context> context, size_t bytes, std::byte* host)
      : Buffer(MemoryKind::Host, bytes, host, {}), context_(std::move(context)) {}

  std::shared_ptr<Context> context_;
  BufferPtr own_;          ///< unified memory: the host's allocation, which outlives memory_
  Memory memory_;          ///< unified memory
  Memory pinned_;          ///< else: what `host()` is a mapping of
  QueueHandle map_queue_;  ///< that it was mapped through
};

}  // namespace het::gpu
