#include "python/gst/element/process_life.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace het::python {
namespace {

/// A callback that goes on for longer does not keep a process from ending.
constexpr std::chrono::seconds kLongestWait{2};

std::atomic<bool> has_ended{false};
std::atomic<int> visits{0};
thread_local int own_visits = 0;

std::atomic<unsigned> forks{0};
std::atomic<unsigned> forks_of_python{0};

// Written once, before the process can end.
pid_t starter = 0;
void (*finish_python)() = nullptr;

/// The child has this thread alone.
void note_fork() {
  forks.fetch_add(1);
  visits.store(own_visits);
}

/// Without the GIL.
void end_visits() {
  if (has_ended.exchange(true)) return;
  const auto deadline = std::chrono::steady_clock::now() + kLongestWait;
  while (visits.load() > own_visits && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

PyObject* interpreter_ends(PyObject*, PyObject*) {
  PyThreadState* const state = PyEval_SaveThread();
  end_visits();
  PyEval_RestoreThread(state);
  Py_RETURN_NONE;
}

PyObject* python_forked(PyObject*, PyObject*) {
  forks_of_python.store(forks.load());
  Py_RETURN_NONE;
}

PyMethodDef interpreter_ends_method = {"interpreter_ends", interpreter_ends, METH_NOARGS, nullptr};
PyMethodDef python_forked_method = {"python_forked", python_forked, METH_NOARGS, nullptr};

/// Calls a function of a module with keyword arguments or, without `keyword`, a single argument.
bool give_function(const char* module_name, const char* name, const char* keyword,
                   PyMethodDef* method) {
  PyObject* const module = PyImport_ImportModule(module_name);
  PyObject* const taker = module ? PyObject_GetAttrString(module, name) : nullptr;
  PyObject* const function = taker ? PyCFunction_New(method, nullptr) : nullptr;
  PyObject* const no_arguments = function ? PyTuple_New(0) : nullptr;
  PyObject* const named =
      no_arguments && keyword ? Py_BuildValue("{sO}", keyword, function) : nullptr;
  PyObject* result = nullptr;
  if (named) {
    result = PyObject_Call(taker, no_arguments, named);
  } else if (no_arguments && !keyword) {
    result = PyObject_CallOneArg(taker, function);
  }
  const bool is_given = result != nullptr;
  for (PyObject* object : {module, taker, function, no_arguments, named, result}) {
    Py_XDECREF(object);
  }
  return is_given;
}

void end_process() {
  if (getpid() != starter || !Py_IsInitialized()) return;
  end_visits();
  finish_python();
}

}  // namespace

Visit::Visit() : is_allowed_(true) {
  ++own_visits;
  visits.fetch_add(1);
  // Nested ones end before the outer one does.
  if (has_ended.load() && own_visits == 1) {
    --own_visits;
    visits.fetch_sub(1);
    is_allowed_ = false;
  }
}

Visit::~Visit() {
  if (!is_allowed_) return;
  --own_visits;
  visits.fetch_sub(1);
}

unsigned fork_count() {
  return forks.load();
}

bool python_knows_forks() {
  return forks.load() == forks_of_python.load();
}

bool watch_process() {
  static bool is_counting = pthread_atfork(nullptr, nullptr, note_fork) == 0;
  static bool is_watching = false;
  if (!is_counting || is_watching) return true;
  if (!give_function("os", "register_at_fork", "after_in_child", &python_forked_method)) {
    return false;
  }
  if (!give_function("atexit", "register", nullptr, &interpreter_ends_method)) return false;
  is_watching = true;
  return true;
}

void finish_at_exit(void (*finish)()) {
  starter = getpid();
  finish_python = finish;
  std::atexit(end_process);
}

}  // namespace het::python
