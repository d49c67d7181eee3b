#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "devices/gpu/memory/context.h"
#include "inference/tensors/numbered_content.h"

namespace het::gpu {

/// What the device has of a numbered content in memory of its own, for all ports and pictures that
/// use it: a content is sent once, and not at all where the device made it. Thread-safe.
class DeviceCopy {
 public:
  /// The one of this content; null where it has no number now.
  static std::shared_ptr<DeviceCopy> of(const Context& context, const NumberedBuffer& buffer);

  /// What the host has.
  struct Source {
    uint64_t number = 0;        ///< of the content
    const void* key = nullptr;  ///< says which bytes of it
    const void* bytes = nullptr;
    size_t size = 0;
    bool is_on_host = true;
  };
  /// The memory with these bytes, for commands that `queue` gets from now on; sent from the host's
  /// memory, which must stay until they have ended, unless they are there. Fails with Internal for
  /// what neither has.
  Result<Memory> send(Context& context, cl_command_queue queue, const Source& source);
  /// The memory for kernels to write; it has no known content until keep().
  Result<Memory> make_room(const Context& context, size_t bytes);
  /// Commands that make these bytes are enqueued; who reads them is started after their end.
  void keep(const Source& made);

 private:
  explicit DeviceCopy(ContextHandle context) : context_(std::move(context)) {}
  Status allocate(const Context& context, size_t bytes);

  const ContextHandle context_;  ///< so that no other has its address
  std::mutex mutex_;             ///< protects the rest; held while commands are enqueued
  Memory memory_;
  size_t capacity_ = 0;  ///< of the memory
  Source kept_;          ///< what it has; 0 for nothing known
  EventHandle sent_;     ///< null: there before the execution that asks
};

}  // namespace het::gpu
