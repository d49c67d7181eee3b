#include "python/gst/element/interpreter.h"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <new>
#include <thread>
#include <utility>

#include "python/gst/element/process_life.h"
#include "python/gst/element/python_start.h"
#include "python/gst/element/script_loader.h"

namespace het::python {
namespace {

/// Of the innermost Entered of this thread.
thread_local PyThreadState* entered_state = nullptr;

/// The state that this thread has taken a GIL with, or null.
PyThreadState* state_with_gil() {
#if PY_VERSION_HEX >= 0x030D0000
  return PyThreadState_GetUnchecked();
#elif PY_VERSION_HEX >= 0x030C0000
  return _PyThreadState_UncheckedGet();
#else
  // Here it is that of any thread.
  PyThreadState* const current = _PyThreadState_UncheckedGet();
  const bool is_ours = current == entered_state || current == PyGILState_GetThisThreadState();
  return is_ours ? current : nullptr;
#endif
}

/// The functions of the loader, a dictionary; null with an exception set.
PyObject* run_loader() {
  PyObject* const code = Py_CompileString(kScriptLoader, "<heteropython>", Py_file_input);
  PyObject* const names = code ? PyDict_New() : nullptr;
  PyObject* const name = names ? PyUnicode_FromString("heteropython") : nullptr;
  PyObject* result = nullptr;
  if (name && PyDict_SetItemString(names, "__builtins__", PyEval_GetBuiltins()) == 0 &&
      PyDict_SetItemString(names, "__name__", name) == 0) {
    result = PyEval_EvalCode(code, names, names);
  }
  Py_XDECREF(code);
  Py_XDECREF(name);
  if (!result) {
    Py_XDECREF(names);
    return nullptr;
  }
  Py_DECREF(result);
  return names;
}

Failure python_failure(const char* attempt) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* const text = value ? PyObject_Str(value) : nullptr;
  const char* const words = text ? PyUnicode_AsUTF8(text) : nullptr;
  const std::string reason = words ? words : "Python gives no reason";
  for (PyObject* object : {type, value, trace, text}) Py_XDECREF(object);
  PyErr_Clear();
  return error(StatusCode::Internal, "{} failed: {}", attempt, reason);
}

/// A new interpreter, in which this thread is then; null where Python makes none.
PyThreadState* new_interpreter(InterpreterKind kind) {
#if PY_VERSION_HEX >= 0x030C0000
  if (kind == InterpreterKind::OwnGil) {
    PyInterpreterConfig config{};
    config.allow_threads = 1;
    // Threads that a function starts are daemons unless it says otherwise.
    config.allow_daemon_threads = 1;
    config.check_multi_interp_extensions = 1;
    config.gil = PyInterpreterConfig_OWN_GIL;
    PyThreadState* state = nullptr;
    const PyStatus status = Py_NewInterpreterFromConfig(&state, &config);
    return PyStatus_Exception(status) ? nullptr : state;
  }
#endif
  (void)kind;
  return Py_NewInterpreter();
}

/// Other threads of the script's are still in the interpreter of this one.
bool has_other_threads(PyThreadState* state) {
  PyThreadState* const first = PyInterpreterState_ThreadHead(PyThreadState_GetInterpreter(state));
  return first != state || PyThreadState_Next(first) != nullptr;
}

void call_loader(PyObject* loader, const char* name) {
  PyObject* const result = PyObject_CallNoArgs(PyDict_GetItemString(loader, name));
  if (!result) PyErr_WriteUnraisable(nullptr);
  Py_XDECREF(result);
}

/// Threads that are daemons have a second to end before their interpreter does.
constexpr int kRounds = 100;

/// The functions in the main interpreter; guarded by its GIL.
PyObject* shared_loader = nullptr;

/// A thread's state in the main interpreter, beyond its visits.
class KeptState {
 public:
  ~KeptState() { drop(); }

  void keep() {
    if (state_ || PyGILState_GetThisThreadState()) return;
    PyGILState_Ensure();
    state_ = PyEval_SaveThread();
  }

  void drop() {
    if (!state_) return;
    PyThreadState* const state = std::exchange(state_, nullptr);
    const Visit visit;
    if (!visit.is_allowed() || is_python_finalizing() || !python_knows_forks()) return;
    PyEval_RestoreThread(state);
    PyGILState_Release(PyGILState_UNLOCKED);
  }

 private:
  PyThreadState* state_ = nullptr;
};

thread_local KeptState kept_state;

}  // namespace

void on_fitting_thread(InterpreterKind kind, const std::function<void()>& work) {
  PyThreadState* const known = PyGILState_GetThisThreadState();
  const bool fits = !known || (kind == InterpreterKind::Shared &&
                               PyThreadState_GetInterpreter(known) == PyInterpreterState_Main());
  if (fits) return work();
  PyThreadState* const before = state_with_gil() ? PyEval_SaveThread() : nullptr;
  std::thread(work).join();
  if (before) PyEval_RestoreThread(before);
}

void keep_thread_state() {
  kept_state.keep();
}

std::unique_ptr<Interpreter> Interpreter::main() {
  std::unique_ptr<Interpreter> interpreter(new Interpreter);
  interpreter->state_ = PyInterpreterState_Main();
  interpreter->forks_ = fork_count();
  return interpreter;
}

void Interpreter::finish_main() {
  // Not left again: no thread runs Python while the libraries of its extensions end.
  alignas(Entered) static std::byte place[sizeof(Entered)];
  new (place) Entered(*main());
  PyRun_SimpleString(
      "import atexit, sys\n"
      "atexit._run_exitfuncs()\n"
      "for stream in (sys.stdout, sys.stderr):\n"
      "    try:\n"
      "        stream.flush()\n"
      "    except Exception:\n"
      "        pass\n");
}

Status Interpreter::start_python() {
  return ensure_python(finish_main);
}

Result<std::unique_ptr<Interpreter>> Interpreter::open(InterpreterKind kind) {
#if PY_VERSION_HEX < 0x030C0000
  if (kind == InterpreterKind::OwnGil) {
    return error(StatusCode::NotSupported,
                 "property interpreter=own-gil needs Python 3.12 or newer, and this is Python {}; "
                 "set own or shared",
                 PY_VERSION);
  }
#endif
  HET_TRY(start_python());
  if (!python_knows_forks()) {
    return error(StatusCode::NotSupported,
                 "Python cannot go on in process {}, which was forked while Python ran, but not by "
                 "os.fork(); fork before the first pipeline with heteropython, or start a new "
                 "program",
                 getpid());
  }
  std::unique_ptr<Interpreter> shared = main();
  const Entered entered(*shared);
  if (!watch_process()) return python_failure("registering for the end of Python");
  if (!shared_loader) {
    PyObject* const loader = run_loader();
    if (!loader) return python_failure("preparing Python for scripts");
    // Another thread may have had its turn meanwhile.
    if (shared_loader) {
      Py_DECREF(loader);
    } else {
      shared_loader = loader;
    }
  }
  shared->loader_ = shared_loader;
  if (kind == InterpreterKind::Shared) return shared;
  std::unique_ptr<Interpreter> own(new Interpreter);
  HET_TRY(own->start_own(kind));
  return own;
}

Status Interpreter::start_own(InterpreterKind kind) {
  PyThreadState* const before = PyThreadState_Get();
  PyThreadState* const state = new_interpreter(kind);
  if (!state) {
    if (!state_with_gil()) PyEval_RestoreThread(before);
    PyErr_Clear();
    return error(StatusCode::Internal, "Python {} starts no further interpreter in this process",
                 PY_VERSION);
  }
  Status status;
  loader_ = run_loader();
  if (!loader_) status = python_failure("preparing an interpreter for scripts");
  own_state_ = state;
  state_ = PyThreadState_GetInterpreter(state);
  forks_ = fork_count();
  PyEval_SaveThread();
  PyEval_RestoreThread(before);
  return status;
}

Interpreter::~Interpreter() {
  end();
}

bool Interpreter::is_of_this_process() const {
  return is_own() ? forks_ == fork_count() : python_knows_forks();
}

std::string Interpreter::end() {
  if (!own_state_) return "";
  PyThreadState* const state = std::exchange(own_state_, nullptr);
  const Visit visit;
  if (!visit.is_allowed() || forks_ != fork_count()) return "";
  std::string problem;
  on_fitting_thread(InterpreterKind::Own, [&] { problem = end_own(state); });
  return problem;
}

std::string Interpreter::end_own(PyThreadState* state) {
  if (loader_) {
    const Entered entered(*this);
    call_loader(loader_, "end");
    Py_CLEAR(loader_);
  }
  const std::unique_ptr<Interpreter> shared = main();
  const Entered entered(*shared);
  PyThreadState* const before = PyEval_SaveThread();
  PyEval_RestoreThread(state);
  for (int round = 0; round < kRounds && has_other_threads(state); ++round) {
    PyEval_SaveThread();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    PyEval_RestoreThread(state);
  }
  if (has_other_threads(state)) {
    PyEval_SaveThread();
    PyEval_RestoreThread(before);
    return "threads of the script that are daemons still run, so its interpreter stays";
  }
#if PY_VERSION_HEX >= 0x030C0000
  Py_EndInterpreter(state);
  PyEval_RestoreThread(before);
#else
  // The one GIL stays with this thread.
  Py_EndInterpreter(state);
  PyThreadState_Swap(before);
#endif
  return "";
}

Entered::Entered(const Interpreter& interpreter) : outer_(entered_state) {
  // PyGILState would lead into the main interpreter.
  if (interpreter.state_ != PyInterpreterState_Main() && !state_with_gil()) kept_state.drop();
  PyThreadState* const of_thread = PyGILState_GetThisThreadState();
  // PyGILState knows one state a thread, whatever its interpreter is.
  const bool fits = !of_thread || PyThreadState_GetInterpreter(of_thread) == interpreter.state_;
  if (interpreter.state_ == PyInterpreterState_Main() && fits) {
    way_ = Way::GilState;
    // Within another interpreter this thread has the GIL by a state that PyGILState does not see.
    if (state_with_gil() && state_with_gil() != of_thread) before_ = PyEval_SaveThread();
    gil_state_ = PyGILState_Ensure();
    entered_state = PyThreadState_Get();
    return;
  }
  way_ = Way::NewState;
  if (state_with_gil()) before_ = PyEval_SaveThread();
  state_ = PyThreadState_New(interpreter.state_);
  PyEval_AcquireThread(state_);
  entered_state = state_;
}

Entered::~Entered() {
  entered_state = outer_;
  // Python takes a thread that asks for the GIL then, and all that this would give back.
  if (is_python_finalizing()) return;
  if (way_ == Way::GilState) {
    PyGILState_Release(gil_state_);
  } else {
    PyThreadState_Clear(state_);
    PyThreadState_DeleteCurrent();
  }
  if (before_) PyEval_RestoreThread(before_);
}

}  // namespace het::python
