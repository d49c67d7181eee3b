#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <optional>
#include <utility>

namespace het::python {

namespace py = pybind11;

/// Around what works with Python's objects and may run code of Python on a thread of Python's. Up
/// to 3.13 Python ends a daemon thread by unwinding its stack where it asks for the GIL after the
/// interpreter's end, which destructors in between do not survive. So the end waits for those that
/// are inside, and who comes later stops here for good, as Python's own threads do from 3.14 on.
/// May be nested.
class InPython {
 public:
  InPython();
  ~InPython();
  InPython(const InPython&) = delete;
  InPython& operator=(const InPython&) = delete;

 private:
  bool is_outermost_;
};

/// For definitions of what does more than read a member.
inline constexpr py::call_guard<InPython> kInPython;

/// Without the GIL while it lives; what is said of InPython holds where it gets the GIL again.
class GilReleased {
 public:
  GilReleased();
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  bool was_inside_;
  PyThreadState* state_;
};

/// With the GIL while it lives, on any thread, unless the interpreter has ended: then it is false
/// and nothing of Python may be touched. The interpreter's end waits for it.
class GilHeld {
 public:
  GilHeld();
  ~GilHeld();
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;
  explicit operator bool() const { return state_.has_value(); }

 private:
  bool is_outermost_;
  std::optional<PyGILState_STATE> state_;
};

/// `work()` without the GIL, so that other threads of Python go on: for everything that waits or
/// computes. It must not touch Python's objects.
template <class Work>
auto without_gil(Work&& work) {
  const GilReleased released;
  return std::forward<Work>(work)();
}

/// How long a wait lasts before it looks for signals.
inline constexpr std::chrono::milliseconds kSignalSlice{100};

/// Calls `wait_some()`, which waits for kSignalSlice at most and says whether there is
/// something to wait for still, until there is not. Ctrl-C and other signals end it in between, by
/// the exception of their handler.
template <class WaitSome>
void wait_interruptibly(WaitSome&& wait_some) {
  while (without_gil(wait_some)) {
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
}

}  // namespace het::python
