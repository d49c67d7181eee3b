#include "frame_memory.h"

#include <mutex>

namespace het::gst {
namespace {

/// One set of pools under a lock. std::pmr::synchronized_pool_resource has one for each thread and
/// keeps what a thread that ends has in use: half a megabyte more after 1,000 starts and stops.
class SharedPools final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    const std::lock_guard lock(mutex_);
    return pools_.allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    const std::lock_guard lock(mutex_);
    pools_.deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::mutex mutex_;
  std::pmr::unsynchronized_pool_resource pools_;  ///< protected by mutex_
};

}  // namespace

std::pmr::memory_resource& frame_memory() {
  // Never freed: the last frame may go after everything static.
  static auto* const memory = new SharedPools();
  return *memory;
}

}  // namespace het::gst
