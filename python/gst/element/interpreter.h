#pragma once

#include <Python.h>

#include <functional>
#include <memory>
#include <string>

#include "inference/base/status.h"

namespace het::python {

enum class InterpreterKind {
  Shared,  ///< the process' main one
  Own,     ///< one of its own, under the same GIL
  OwnGil,  ///< one of its own with a GIL of its own (Python 3.12)
};

/// Where scripts run. Thread-safe; the main one is never ended here.
class Interpreter {
 public:
  /// The process has Python afterwards.
  static Status start_python();
  static Result<std::unique_ptr<Interpreter>> open(InterpreterKind kind);
  /// Ends an interpreter of its own; a child after fork() only forgets it. For threads of the
  /// script it waits a moment.
  ~Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  bool is_own() const { return own_state_ != nullptr; }
  /// It was there when this process began, or Python itself has forked it.
  bool is_of_this_process() const;
  /// The functions of script_loader.py, borrowed; inside the interpreter.
  PyObject* loader() const { return loader_; }
  /// Why an interpreter of its own could not be ended, if so. Nothing else is to be done with it
  /// afterwards.
  std::string end();

 private:
  friend class Entered;
  Interpreter() = default;
  /// The main one, without a loader.
  static std::unique_ptr<Interpreter> main();
  static void finish_main();
  Status start_own(InterpreterKind kind);
  std::string end_own(PyThreadState* state);

  PyInterpreterState* state_ = nullptr;
  /// The first state of a thread in an interpreter of its own, with which it is ended.
  PyThreadState* own_state_ = nullptr;
  PyObject* loader_ = nullptr;
  unsigned forks_ = 0;
};

/// Calls `work`, which enters an interpreter of this kind: on another thread where C functions that
/// take the GIL by PyGILState would come into another interpreter on this one, and wait for ever.
void on_fitting_thread(InterpreterKind kind, const std::function<void()>& work);

/// Lets this thread keep the state that Python makes for a thread that it does not know, until the
/// thread ends: making one for each frame takes several times as long as an empty callback.
void keep_thread_state();

/// This thread is in the interpreter, with its GIL, while it lives; inside a Visit. The thread may
/// hold a GIL before, which it has again afterwards.
class Entered {
 public:
  explicit Entered(const Interpreter& interpreter);
  ~Entered();
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  enum class Way { GilState, NewState } way_;
  PyGILState_STATE gil_state_{};
  PyThreadState* state_ = nullptr;   ///< the new one
  PyThreadState* before_ = nullptr;  ///< the one that this thread had, with its GIL
  PyThreadState* outer_ = nullptr;   ///< of the Entered around this one
};

}  // namespace het::python
