#include "python/gst/element/script.h"

#include <cstring>
#include <optional>
#include <utility>

#include "python/gst/element/exceptions.h"
#include "python/gst/element/process_life.h"
#include "python/gst/element/python_start.h"

namespace het::python {
namespace {

/// A list of str; null with an exception set.
PyObject* list_of(const std::vector<std::string>& texts) {
  PyObject* const list = PyList_New(0);
  for (const std::string& text : texts) {
    PyObject* const item = list ? PyUnicode_FromStringAndSize(text.data(), text.size()) : nullptr;
    const bool is_added = item && PyList_Append(list, item) == 0;
    Py_XDECREF(item);
    if (!is_added) {
      Py_XDECREF(list);
      return nullptr;
    }
  }
  return list;
}

/// numpy's is no bool of Python's; it has had both names.
bool is_numpy_bool(PyObject* value) {
  const char* const name = Py_TYPE(value)->tp_name;
  return std::strcmp(name, "numpy.bool_") == 0 || std::strcmp(name, "numpy.bool") == 0;
}

const char* in_words(InterpreterKind kind) {
  switch (kind) {
    case InterpreterKind::Shared:
      return "the shared interpreter";
    case InterpreterKind::Own:
      return "an interpreter of its own";
    case InterpreterKind::OwnGil:
      return "an interpreter of its own with its own GIL";
  }
  return "";
}

ScriptFailure in_words(const Status& status) {
  return {status.message(), "", status.code() == StatusCode::NotSupported};
}

/// What the function's result means; no value with an exception set.
std::optional<Script::Verdict> verdict_of(PyObject* result, PyObject* loader,
                                          const std::string& function) {
  if (result == Py_None || result == Py_True) return Script::Verdict::Pass;
  if (result == Py_False) return Script::Verdict::Drop;
  if (is_numpy_bool(result)) {
    const int truth = PyObject_IsTrue(result);
    if (truth < 0) return std::nullopt;
    return truth ? Script::Verdict::Pass : Script::Verdict::Drop;
  }
  PyObject* const refusal = PyObject_CallFunction(PyDict_GetItemString(loader, "unexpected"), "Os",
                                                  result, function.c_str());
  if (refusal) PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(refusal)), refusal);
  Py_XDECREF(refusal);
  return std::nullopt;
}

}  // namespace

tl::expected<std::unique_ptr<Script>, ScriptFailure> Script::open(const ScriptSettings& settings) {
  const Visit visit;
  if (!visit.is_allowed()) {
    return tl::unexpected(ScriptFailure{"Python has ended in this process", "", false});
  }
  if (const Status status = Interpreter::start_python(); !status.ok()) {
    return tl::unexpected(in_words(status));
  }
  std::unique_ptr<Script> script(new Script);
  script->kind_ = settings.interpreter;
  ScriptFailure failure;
  on_fitting_thread(settings.interpreter, [&] { failure = script->open_here(settings); });
  if (!failure.message.empty()) return tl::unexpected(std::move(failure));
  return script;
}

ScriptFailure Script::open_here(const ScriptSettings& settings) {
  auto interpreter = Interpreter::open(settings.interpreter);
  if (!interpreter) return in_words(interpreter.error());
  interpreter_ = std::move(*interpreter);
  ScriptFailure failure = load(settings);
  if (!failure.message.empty()) close_here();
  return failure;
}

ScriptFailure Script::load(const ScriptSettings& settings) {
  const unsigned forks = fork_count();
  module_ = settings.module;
  function_ = settings.function;
  const Entered entered(*interpreter_);
  PyObject* const loader = interpreter_->loader();
  extension_ = PyObject_CallFunction(PyDict_GetItemString(loader, "prepare"), "i",
                                     interpreter_->is_own() ? 1 : 0);
  if (!extension_) return take_failure(loader, module_);
  if (ScriptFailure failure = use_extension(); !failure.message.empty()) return failure;
  PyObject* const args = list_of(settings.args);
  PyObject* const kwargs = args ? list_of(settings.kwargs) : nullptr;
  PyObject* const loaded =
      kwargs ? PyObject_CallFunction(PyDict_GetItemString(loader, "load"), "sssOO", module_.c_str(),
                                     settings.class_name.c_str(), function_.c_str(), args, kwargs)
             : nullptr;
  Py_XDECREF(args);
  Py_XDECREF(kwargs);
  if (fork_count() != forks) end_child(loader);
  const char* file = nullptr;
  if (loaded && PyArg_ParseTuple(loaded, "Os", &callable_, &file)) {
    Py_INCREF(callable_);
    description_ =
        fmt::format("{}, {}: {}{}{} of {}", python_in_words(), in_words(settings.interpreter),
                    settings.class_name, settings.class_name.empty() ? "" : ".", function_, file);
  }
  Py_XDECREF(loaded);
  return callable_ ? ScriptFailure{} : take_failure(loader, module_);
}

ScriptFailure Script::use_extension() {
  PyObject* const capsule = PyObject_GetAttrString(extension_, "_frame_loans");
  if (capsule) {
    loans_ = static_cast<const FrameLoans*>(PyCapsule_GetPointer(capsule, kFrameLoans));
  }
  Py_XDECREF(capsule);
  if (!loans_) return take_failure(interpreter_->loader(), module_);
  if (std::strcmp(loans_->version, HET_GST_VERSION) == 0) return {};
  return {fmt::format("the plugin heteropython is of gst-hetero {}, but the Python package hetero "
                      "is of {}; install gstreamer1.0-hetero-python and python3-hetero of the same "
                      "version, or set PYTHONPATH=BUILD/python",
                      HET_GST_VERSION, loans_->version),
          "", true};
}

Script::Verdict Script::call(GstBuffer* buffer, GstCaps* caps, const GstVideoInfo* info,
                             ScriptFailure& failure) {
  const Visit visit;
  if (!visit.is_allowed()) return Verdict::Ended;
  if (!interpreter_->is_of_this_process()) {
    failure = {
        "a child of fork() cannot go on with its parent's interpreter; start a pipeline of "
        "its own there",
        "", false};
    return Verdict::Failed;
  }
  const unsigned forks = fork_count();
  if (!interpreter_->is_own()) keep_thread_state();
  const Entered entered(*interpreter_);
  PyObject* const loader = interpreter_->loader();
  PyObject* const frame = loans_->lend(extension_, buffer, caps, info);
  if (!frame) {
    failure = take_failure(loader, module_);
    return Verdict::Failed;
  }
  PyObject* const result = PyObject_CallOneArg(callable_, frame);
  if (fork_count() != forks) end_child(loader);
  const std::optional<Verdict> verdict =
      result ? verdict_of(result, loader, function_) : std::nullopt;
  if (!verdict) failure = take_failure(loader, module_);
  Py_XDECREF(result);
  if (loans_->end(frame)) return verdict.value_or(Verdict::Failed);
  // The first failure is the one that is told.
  if (verdict) failure = take_failure(loader, module_);
  PyErr_Clear();
  return Verdict::Failed;
}

std::string Script::close() {
  if (!interpreter_) return "";
  std::string problem;
  on_fitting_thread(kind_, [&] { problem = close_here(); });
  return problem;
}

std::string Script::close_here() {
  PyObject* const callable = std::exchange(callable_, nullptr);
  PyObject* const extension = std::exchange(extension_, nullptr);
  if (!interpreter_) return "";
  const std::unique_ptr<Interpreter> interpreter = std::move(interpreter_);
  const Visit visit;
  // What has ended takes nothing back.
  if (!visit.is_allowed() || !interpreter->is_of_this_process()) return "";
  {
    const Entered entered(*interpreter);
    Py_XDECREF(callable);
    Py_XDECREF(extension);
    PyObject* const flushed =
        PyObject_CallNoArgs(PyDict_GetItemString(interpreter->loader(), "flush"));
    if (!flushed) PyErr_Clear();
    Py_XDECREF(flushed);
  }
  return interpreter->end();
}

Script::~Script() {
  close();
}

}  // namespace het::python
