#include "python/bindings/failures.h"

#include <string>

namespace het::python {
namespace {

/// Names of the classes in python/hetero/exceptions.py.
const char* class_name(StatusCode code) {
  switch (code) {
    case StatusCode::InvalidArgument:
      return "InvalidArgument";
    case StatusCode::NotFound:
      return "NotFound";
    case StatusCode::NotSupported:
      return "NotSupported";
    case StatusCode::ParseError:
      return "ParseError";
    case StatusCode::ShapeMismatch:
      return "ShapeMismatch";
    case StatusCode::Busy:
      return "Busy";
    case StatusCode::Cancelled:
      return "Cancelled";
    case StatusCode::TimedOut:
      return "TimedOut";
    case StatusCode::DeviceLost:
      return "DeviceLost";
    case StatusCode::OutOfMemory:
      return "OutOfMemory";
    case StatusCode::Ok:
    case StatusCode::Internal:
      break;
  }
  return "Internal";
}

}  // namespace

void raise(const Status& status) {
  const py::object type = py::module_::import("hetero.exceptions").attr(class_name(status.code()));
  // Messages may quote bytes of a file that are no UTF-8.
  const py::object text = py::reinterpret_steal<py::object>(PyUnicode_DecodeUTF8(
      status.message().data(), static_cast<Py_ssize_t>(status.message().size()), "replace"));
  PyErr_SetObject(type.ptr(), text.ptr());
  throw py::error_already_set();
}

std::optional<py::dict> as_dict(py::handle object) {
  if (py::isinstance<py::dict>(object)) return py::reinterpret_borrow<py::dict>(object);
  static const py::handle mapping = imported("collections.abc", "Mapping");
  if (!py::isinstance(object, mapping)) return std::nullopt;
  py::dict copy;
  for (const py::handle key : object) copy[key] = object[key];
  return copy;
}

std::string path_text(py::handle path) {
  if (path.is_none()) return {};
  const py::module_ os = py::module_::import("os");
  return py::object(os.attr("fsencode")(os.attr("fspath")(path))).cast<std::string>();
}

}  // namespace het::python
