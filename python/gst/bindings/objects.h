#pragma once

#include <Python.h>

#include <string>
#include <string_view>
#include <utility>

namespace het::python {

/// A reference to an object of Python that is given back; null where a call has failed with an
/// exception.
class Owned {
 public:
  Owned() = default;
  explicit Owned(PyObject* object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { Py_XDECREF(object_); }

  /// Another reference to an object that somebody else owns.
  static Owned copy(PyObject* object) {
    Py_XINCREF(object);
    return Owned(object);
  }
  explicit operator bool() const { return object_ != nullptr; }
  PyObject* get() const { return object_; }
  /// To the caller, who owns it then.
  PyObject* release() { return std::exchange(object_, nullptr); }

 private:
  PyObject* object_ = nullptr;
};

inline PyObject* new_none() {
  return Py_NewRef(Py_None);
}

/// UTF-8 as a text of Python; what is no UTF-8 is replaced.
inline PyObject* new_text(std::string_view text) {
  return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
}

/// The UTF-8 of a text, which lives as long as the text; null with an exception for other objects.
inline const char* utf8_of(PyObject* text, const char* what) {
  if (PyUnicode_Check(text)) return PyUnicode_AsUTF8(text);
  PyErr_Format(PyExc_TypeError, "%s must be a str, not %.100s", what, Py_TYPE(text)->tp_name);
  return nullptr;
}

/// What tp_methods takes, from functions with keywords.
inline PyCFunction with_keywords(PyCFunctionWithKeywords function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

}  // namespace het::python
