#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <utility>

namespace het::python {

namespace py = pybind11;

/// Without the GIL while it lives. Once the interpreter has ended, a thread that is not the main
/// one stops here for good, as Python's own do from 3.14 on: it would never get the GIL again.
class GilReleased {
 public:
  GilReleased() : state_(PyEval_SaveThread()) {}
  ~GilReleased();
  GilReleased(const GilReleased&) = delete;
  GilReleased& operator=(const GilReleased&) = delete;

 private:
  PyThreadState* state_;
};

/// With the GIL while it lives, on any thread. Ask python_is_there() first on those of devices.
class GilHeld {
 public:
  GilHeld() : state_(PyGILState_Ensure()) {}
  ~GilHeld() { PyGILState_Release(state_); }
  GilHeld(const GilHeld&) = delete;
  GilHeld& operator=(const GilHeld&) = delete;

 private:
  PyGILState_STATE state_;
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
