#pragma once

#include <list>
#include <memory>
#include <mutex>

#include "devices/gpu/opencl/opencl.h"
#include "inference/base/status.h"

namespace het::gpu {

/// The sub-buffers of one buffer, which they keep alive. The last made is let go first, whatever
/// their users do: NVIDIA's driver (580.159) ends in a segmentation fault where kernels used
/// several and an older one goes before a newer. Thread-safe.
class SubBuffers : public std::enable_shared_from_this<SubBuffers> {
 public:
  explicit SubBuffers(Memory whole) : whole_(std::move(whole)) {}

  /// `offset` in bytes, a multiple of the device's alignment.
  Result<Memory> make(size_t offset, size_t bytes);

 private:
  struct Part {
    BufferHandle handle;
    bool used = true;
  };

  void let_go(Part& part);

  const Memory whole_;  // outlives its parts
  std::mutex mutex_;
  std::list<Part> parts_;  ///< in the order in which they were made
};

}  // namespace het::gpu
