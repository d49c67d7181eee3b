#pragma once

#include <memory>
#include <utility>

#include "inference/base/status.h"
#include "python/bindings/gil.h"

namespace het::python {

/// How many times this process has come out of fork(); calls note_forks() first.
unsigned fork_count();
/// Begins to count; several calls count once.
void note_forks();

/// Holds what has threads behind it. A child after fork() has the object but not its threads: there
/// it only forgets it, and check() says what to do instead.
template <class Pointer>
class ProcessBound {
 public:
  ProcessBound() = default;
  explicit ProcessBound(Pointer pointer) : pointer_(std::move(pointer)) {}
  ProcessBound(const ProcessBound&) = delete;
  ProcessBound& operator=(const ProcessBound&) = delete;
  ~ProcessBound() { reset(); }

  bool is_here() const { return forks_ == fork_count(); }
  Status check() const {
    if (is_here()) return {};
    return error(StatusCode::InvalidArgument,
                 "this object was made before fork(), and its threads stayed in the other process; "
                 "make it in this one, or start processes by multiprocessing's method 'spawn'");
  }
  /// Lets go of the GIL meanwhile: threads that are waited for may want it.
  void reset() {
    if (!pointer_) return;
    if (!is_here()) {
      new Pointer(std::move(pointer_));  // left to the end of the process, on purpose
    } else if (PyGILState_Check() != 0) {
      without_gil([this] { pointer_ = Pointer(); });
    } else {
      pointer_ = Pointer();
    }
  }
  const Pointer& get() const { return pointer_; }
  auto* operator->() const { return pointer_.operator->(); }
  auto& operator*() const { return *pointer_; }

 private:
  Pointer pointer_;
  unsigned forks_ = fork_count();
};

}  // namespace het::python
