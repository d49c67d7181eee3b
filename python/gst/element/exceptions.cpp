#include "python/gst/element/exceptions.h"

#include <unistd.h>

namespace het::python {
namespace {

std::string text_of(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const letters = text ? PyUnicode_AsUTF8AndSize(text, &size) : nullptr;
  if (letters) return std::string(letters, size);
  // Surrogates, of a file's name for example.
  PyErr_Clear();
  PyObject* const bytes = text && PyUnicode_Check(text)
                              ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace")
                              : nullptr;
  std::string result = bytes ? PyBytes_AsString(bytes) : "";
  Py_XDECREF(bytes);
  PyErr_Clear();
  return result;
}

}  // namespace

PyObject* take_exception() {
#if PY_VERSION_HEX >= 0x030C0000
  return PyErr_GetRaisedException();
#else
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (value && trace) PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return value;
#endif
}

ScriptFailure take_failure(PyObject* loader, const std::string& module) {
  PyObject* const exception = take_exception();
  if (!exception) return {"Python failed and gave no reason", "", false};
  PyObject* const told = PyObject_CallFunction(PyDict_GetItemString(loader, "describe"), "Os",
                                               exception, module.c_str());
  ScriptFailure failure;
  if (told && PyTuple_Check(told) && PyTuple_GET_SIZE(told) == 3) {
    failure.message = text_of(PyTuple_GET_ITEM(told, 0));
    failure.traceback = text_of(PyTuple_GET_ITEM(told, 1));
    failure.is_setting = PyTuple_GET_ITEM(told, 2) == Py_True;
  } else {
    failure.message = fmt::format("{}, which Python cannot describe", Py_TYPE(exception)->tp_name);
  }
  Py_XDECREF(told);
  Py_DECREF(exception);
  PyErr_Clear();
  return failure;
}

void end_child(PyObject* loader) {
  long status = 0;
  if (PyObject* const exception = take_exception()) {
    PyObject* const told =
        PyObject_CallOneArg(PyDict_GetItemString(loader, "exit_status"), exception);
    status = told ? PyLong_AsLong(told) : 1;
  }
  PyErr_Clear();
  Py_XDECREF(PyObject_CallNoArgs(PyDict_GetItemString(loader, "flush")));
  _exit(static_cast<int>(status));
}

}  // namespace het::python
