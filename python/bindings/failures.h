#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <utility>

#include "inference/base/status.h"

namespace het::python {

namespace py = pybind11;

/// Raises the exception of hetero.exceptions that stands for a failure, with its message. Call it
/// with the GIL.
[[noreturn]] void raise(const Status& status);

inline void check(const Status& status) {
  if (!status.ok()) raise(status);
}

template <class T>
T take(Result<T>&& result) {
  if (!result) raise(result.error());
  return std::move(*result);
}

/// A class or function of a module, kept for good: for what is needed at every call.
inline py::handle imported(const char* module, const char* name) {
  return py::object(py::module_::import(module).attr(name)).release();
}

/// A dict, or a copy of another mapping; nothing for other objects.
std::optional<py::dict> as_dict(py::handle object);

/// A path as the bytes that the system takes; None is empty. Raises TypeError for what is no path.
std::string path_text(py::handle path);

}  // namespace het::python
