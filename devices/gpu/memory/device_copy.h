#pragma once

#include <cstdint>
#include <mutex>

#include "devices/gpu/memory/context.h"

namespace het::gpu {

/// What the device has of a HostBuffer in memory of its own, for all ports that use the buffer: a
/// content is sent once, and not at all where the device made it. Thread-safe.
class DeviceCopy {
 public:
  explicit DeviceCopy(size_t bytes) : bytes_(bytes) {}

  /// The memory with this content, for commands that `queue` gets from now on; sent from `host`,
  /// which must stay until they have ended, unless it is there.
  Result<Memory> send(Context& context, cl_command_queue queue, uint64_t content, const void* host);
  /// The memory for kernels to write; it has no known content until keep().
  Result<Memory> make_room(const Context& context);
  /// Commands that make this content are enqueued; who reads it is started after their end.
  void keep(uint64_t content);

 private:
  Status allocate(const Context& context);

  const size_t bytes_;
  std::mutex mutex_;  ///< protects the rest; held while commands are enqueued
  Memory memory_;
  uint64_t content_ = 0;
  EventHandle sent_;  ///< null: there before the execution that asks
};

}  // namespace het::gpu
