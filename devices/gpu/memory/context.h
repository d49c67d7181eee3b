#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "devices/gpu/memory/probes.h"
#include "devices/gpu/memory/sub_buffers.h"
#include "devices/gpu/opencl/hardware.h"
#include "devices/gpu/opencl/opencl.h"
#include "devices/gpu/opencl/surface_import.h"
#include "devices/gpu/programs/program_cache.h"
#include "inference/base/status.h"

namespace het::gpu {

/// How a queue competes with others, where the driver knows such hints (OpenCL 2.1 extensions).
enum class Urgency : uint8_t { Default, Low, Medium, High };

/// An OpenCL context with one device: what all models of a device, or of an application's context,
/// share. Thread-safe.
class Context {
 public:
  /// A context of our own. Where the device shares surfaces of `va_display` (which may be null),
  /// they are imported; else a warning says why not.
  static Result<std::shared_ptr<Context>> create(const Hardware& hardware,
                                                 void* va_display = nullptr);
  /// The application's context, retained; `queue` may be null. Fails with InvalidArgument for a
  /// context of several devices without a queue that says which.
  static Result<std::shared_ptr<Context>> wrap(cl_context context, cl_command_queue queue);

  cl_context get() const { return context_.get(); }
  const Hardware& hardware() const { return hardware_; }
  ProgramCache& programs() { return programs_; }
  SurfaceImport& surfaces() { return surfaces_; }
  /// Whether a feature is there and does what it should: tried out at the first question.
  bool works(Feature feature);
  /// The compiler's options that programs with a feature that works need; "" for none.
  const std::string& options_of(Feature feature);

  /// Uninitialised memory. Fails with OutOfMemory, saying how much was asked for.
  Result<Memory> allocate(size_t bytes, cl_mem_flags flags = CL_MEM_READ_WRITE) const;
  /// Memory that kernels only read, with this content.
  Result<Memory> upload(const void* content, size_t bytes) const;
  /// A part of other memory, which it keeps alive. `offset` is a multiple of the alignment.
  Result<Memory> part(const Memory& whole, size_t offset, size_t bytes) const;
  /// The host's memory as device memory; both see the same bytes where memory is unified.
  Result<Memory> share(void* host, size_t bytes) const;

  /// Copies between host and device that requests enqueued, for whoever wants to know whether
  /// memory is shared.
  void count_copy() { ++copies_; }
  size_t copies() const { return copies_; }

  /// Taken alone while a request enqueues a map and its unmap.
  std::mutex& mapping_mutex() { return mapping_mutex_; }

  /// A queue of our own, in order.
  Result<QueueHandle> create_queue(bool profiled, Urgency priority = Urgency::Default,
                                   Urgency throttle = Urgency::Default) const;

 private:
  Context(ContextHandle context, Hardware hardware);

  Hardware hardware_;
  ContextHandle context_;
  ProgramCache programs_;
  SurfaceImport surfaces_;
  std::atomic<size_t> copies_{0};
  std::mutex mapping_mutex_;
  mutable std::mutex parts_mutex_;
  mutable std::map<cl_mem, std::weak_ptr<SubBuffers>> parts_;  ///< by the whole
  struct Trial {
    std::once_flag once;
    bool passed = false;  ///< set under `once`
    std::string options;  ///< the same
  };
  std::array<Trial, kFeatureCount> trials_;
};

}  // namespace het::gpu
