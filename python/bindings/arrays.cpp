#include "python/bindings/arrays.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "python/bindings/dlpack.h"
#include "python/bindings/element_types.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"
#include "python/bindings/tensors.h"

namespace het::python {
namespace {

/// A buffer of the buffer protocol, given back on whichever thread lets go of it last.
class ObjectBuffer {
 public:
  ~ObjectBuffer() {
    if (view_.obj == nullptr) return;
    const GilHeld held;
    if (held) PyBuffer_Release(&view_);
  }
  bool fill(py::handle object) {
    constexpr int kReadOnly = PyBUF_STRIDES | PyBUF_FORMAT;
    if (PyObject_GetBuffer(object.ptr(), &view_, kReadOnly | PyBUF_WRITABLE) == 0) return true;
    PyErr_Clear();
    if (PyObject_GetBuffer(object.ptr(), &view_, kReadOnly) == 0) return true;
    PyErr_Clear();
    return false;
  }
  const Py_buffer& view() const { return view_; }

 private:
  Py_buffer view_{};
};

py::object type_error_for(py::handle object) {
  return py::str("a tensor cannot be made of {!r}")
      .attr("format")(py::type::handle_of(object).attr("__name__"));
}

Tensor tensor_of(const std::shared_ptr<ObjectBuffer>& buffer, ElementType type) {
  const Py_buffer& view = buffer->view();
  TensorDesc desc{type, Shape(view.shape, view.shape + view.ndim)};
  const std::vector<int64_t> strides(view.strides, view.strides + view.ndim);
  const bool is_empty = view.len == 0 || view.buf == nullptr;
  const bool is_dense = PyBuffer_IsContiguous(&view, 'C') != 0;
  if (!is_dense && std::ranges::any_of(strides, [](int64_t stride) { return stride < 0; })) {
    Tensor copy = take(Tensor::allocate(std::move(desc)));
    if (PyBuffer_ToContiguous(copy.bytes(), &view, view.len, 'C') != 0) {
      throw py::error_already_set();
    }
    return copy;
  }
  static std::byte none;  // empty arrays may have no address
  if (is_empty) return take(Tensor::wrap(std::move(desc), &none, 0, [buffer] {}));
  size_t size = static_cast<size_t>(view.len);
  if (!is_dense) {
    int64_t last = view.itemsize;
    for (int i = 0; i < view.ndim; ++i) last += (view.shape[i] - 1) * view.strides[i];
    size = static_cast<size_t>(last);
  }
  return take(Tensor::wrap(
      std::move(desc), view.buf, size, [buffer] {}, is_dense ? std::vector<int64_t>() : strides));
}

py::object numpy_array(py::handle object) {
  return py::module_::import("numpy").attr("asarray")(object);
}

/// ml_dtypes' arrays have no buffer protocol; their bytes do.
ArrayView view_exotic(py::handle array) {
  const ElementType type = to_element_type(array.attr("dtype"));
  const BufferFormat format = buffer_format(type);
  if (format.is_packed) {
    raise(Status(StatusCode::NotSupported,
                 "numpy keeps elements of less than a byte unpacked; give their packed bytes as "
                 "Tensor(array, shape, type)"));
  }
  const py::object bytes =
      array.attr("view")(py::module_::import("numpy").attr("dtype")(format.format));
  ArrayView view = view_array(bytes);
  TensorDesc desc{type, view.tensor.shape()};
  view.tensor = take(Tensor::view(std::move(desc), view.tensor.buffer(), view.tensor.offset()));
  return view;
}

}  // namespace

ArrayView view_strided(py::handle object) {
  if (py::isinstance<PythonTensor>(object)) {
    const auto& own = object.cast<const PythonTensor&>();
    return {own.tensor(), own.is_read_only()};
  }
  const auto buffer = std::make_shared<ObjectBuffer>();
  if (buffer->fill(object)) {
    const Py_buffer& view = buffer->view();
    const auto type = type_of_format(view.format, static_cast<size_t>(view.itemsize));
    if (!type) {
      throw py::type_error(fmt::format(
          "tensors have no elements with the buffer format '{}' (the other byte order, or no "
          "plain number)",
          view.format == nullptr ? "" : view.format));
    }
    return {tensor_of(buffer, *type), view.readonly != 0};
  }
  if (py::hasattr(object, "__dlpack__")) {
    // numpy says nothing of DLPack for its own extension types.
    if (!py::hasattr(object, "__array_interface__")) return {from_dlpack(object), false};
    return view_exotic(object);
  }
  const py::object array = numpy_array(object);
  if (py::str(array.attr("dtype").attr("kind")).cast<std::string>() == "O") {
    throw py::type_error(py::str(type_error_for(object)).cast<std::string>());
  }
  ArrayView view = buffer->fill(array) ? view_array(array) : view_exotic(array);
  view.is_read_only = false;  // nobody else has it
  return view;
}

ArrayView view_array(py::handle object) {
  ArrayView view = view_strided(object);
  if (!view.tensor.is_dense()) view = {take(view.tensor.clone()), false};
  return view;
}

ArrayView view_array_as(py::handle object, ElementType type, std::string_view what,
                        std::string_view name) {
  ArrayView view = view_array(object);
  if (view.tensor.type() == type || type == ElementType::Undefined) return view;
  const py::module_ numpy = py::module_::import("numpy");
  const BufferFormat have = buffer_format(view.tensor.type());
  const BufferFormat want = buffer_format(type);
  const bool shown_as_bits = have.is_packed || want.is_packed ||
                             *type_of_format(have.format, have.bytes) != view.tensor.type() ||
                             *type_of_format(want.format, want.bytes) != type;
  if (shown_as_bits ||
      !numpy.attr("can_cast")(have.format, want.format, "same_kind").cast<bool>()) {
    raise(Status(StatusCode::ShapeMismatch,
                 fmt::format("{}{} takes {}, not {}; convert it first, e.g. array.astype(...)",
                             what, name.empty() ? "" : fmt::format(" '{}'", name), to_string(type),
                             to_string(view.tensor.type()))));
  }
  const py::object array = numpy.attr("asarray")(py::cast(PythonTensor(view.tensor)));
  view = view_array(array.attr("astype")(numpy.attr("dtype")(want.format), "C"));
  return view;
}

}  // namespace het::python
