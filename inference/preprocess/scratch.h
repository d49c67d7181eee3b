#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "inference/base/status.h"

namespace het::preprocess_internal {

/// Working memory of one thread: pieces are handed out one after the other and all taken back by
/// reset(). It grows to what the thread needs and then no call allocates. Thread-bound.
class Scratch {
 public:
  /// Forgets the pieces and makes room for `size_bytes` in total (pieces are rounded up to whole
  /// cache lines). Fails with OutOfMemory.
  Status reset(size_t size_bytes);

  template <class T>
  T* take(size_t count) {
    return reinterpret_cast<T*>(take_bytes(count * sizeof(T)));
  }

  static constexpr size_t padded(size_t size_bytes) {
    return (size_bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  static constexpr size_t kAlignment = 64;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  std::byte* take_bytes(size_t size_bytes);

  std::unique_ptr<std::byte, Free> memory_;
  size_t size_ = 0;
  size_t used_ = 0;
};

}  // namespace het::preprocess_internal
