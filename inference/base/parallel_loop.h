#pragma once

#include <cstdint>
#include <type_traits>

namespace het {

/// Threads that whoever works for a device may share a loop with.
class ParallelLoop {
 public:
  /// Runs body(data, begin, end) over disjoint parts of [0, count), each of at least `grain` items
  /// where there are so many, and returns when all are done. `body` must not throw.
  virtual void run(int64_t count, int64_t grain,
                   void (*body)(void* data, int64_t begin, int64_t end), void* data) const = 0;

 protected:
  ~ParallelLoop() = default;
};

/// The same for anything that can be called with (begin, end); on the calling thread without a
/// loop.
template <class Body>
void run_loop(const ParallelLoop* loop, int64_t count, int64_t grain, Body&& body) {
  if (loop == nullptr) {
    if (count > 0) body(int64_t{0}, count);
    return;
  }
  loop->run(
      count, grain,
      [](void* data, int64_t begin, int64_t end) {
        (*static_cast<std::remove_reference_t<Body>*>(data))(begin, end);
      },
      &body);
}

}  // namespace het
