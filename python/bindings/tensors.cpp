#include "python/bindings/tensors.h"

#include <pybind11/stl.h>

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <utility>

#include "python/bindings/arrays.h"
#include "python/bindings/constructed.h"
#include "python/bindings/dlpack.h"
#include "python/bindings/element_types.h"
#include "python/bindings/failures.h"
#include "python/bindings/gil.h"

namespace het::python {
namespace {

/// From this many bytes on a copy lets other threads go on.
constexpr size_t kLargeCopy = size_t{1} << 20;

/// Memory that is mapped for the host until the last user lets go.
class MappedBuffer {
 public:
  explicit MappedBuffer(BufferPtr buffer) : buffer_(std::move(buffer)) {}
  ~MappedBuffer() {
    if (address_ != nullptr) buffer_->unmap();
  }
  Result<std::byte*> map() {
    HET_ASSIGN(address_, buffer_->map(MapAccess::ReadWrite));
    return address_;
  }

 private:
  BufferPtr buffer_;
  std::byte* address_ = nullptr;
};

Result<Tensor> host_addressable(Tensor tensor) {
  if (tensor.empty()) {
    return error(StatusCode::InvalidArgument,
                 "the tensor is empty: its shape is not known before it is set or computed");
  }
  if (tensor.bytes() == nullptr) {
    const auto mapped = std::make_shared<MappedBuffer>(tensor.buffer());
    HET_ASSIGN(std::byte* const address, mapped->map());
    const size_t size = tensor.buffer()->size_bytes();
    HET_ASSIGN(tensor, Tensor::view(tensor.desc(), wrap_host_memory(address, size, [mapped] {}),
                                    tensor.offset(), tensor.strides_bytes()));
  }
  if (!tensor.is_dense()) return tensor.clone();
  return tensor;
}

int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  view->obj = nullptr;
  const PythonTensor* const found = constructed<PythonTensor>(object);
  if (found == nullptr) {
    PyErr_SetString(PyExc_BufferError, "Tensor.__init__() has not been called");
    return -1;
  }
  const PythonTensor& self = *found;
  if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE && self.is_read_only()) {
    PyErr_SetString(PyExc_BufferError, "the tensor shows memory that is only to be read");
    return -1;
  }
  const auto rank = static_cast<int>(self.shown_shape().size());
  if ((flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS && rank > 1) {
    PyErr_SetString(PyExc_BufferError, "the elements of a tensor lie row by row");
    return -1;
  }
  const BufferFormat format = buffer_format(self.tensor().type());
  view->buf = self.tensor().bytes();
  view->len = static_cast<Py_ssize_t>(self.tensor().size_bytes());
  view->itemsize = static_cast<Py_ssize_t>(format.bytes);
  view->readonly = self.is_read_only() ? 1 : 0;
  view->ndim = rank;
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format.format) : nullptr;
  view->shape =
      (flags & PyBUF_ND) != 0 ? const_cast<Py_ssize_t*>(self.shown_shape().data()) : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES
                      ? const_cast<Py_ssize_t*>(self.shown_strides().data())
                      : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  view->obj = object;
  Py_INCREF(object);
  return 0;
}

void show_by_buffer_protocol(PyHeapTypeObject* type) {
  type->as_buffer.bf_getbuffer = get_buffer;
  type->ht_type.tp_as_buffer = &type->as_buffer;
}

PythonTensor from_array(py::object array, bool shared_memory) {
  ArrayView view = view_array(array);
  if (!shared_memory) return PythonTensor(take(view.tensor.clone()));
  const ArrayView again = view_array(array);
  if (view.tensor.bytes() != again.tensor.bytes()) {
    raise(Status(StatusCode::InvalidArgument,
                 "memory can only be shared with an array whose elements lie row by row without "
                 "gaps (numpy.ascontiguousarray makes one)"));
  }
  return PythonTensor(std::move(view.tensor), view.is_read_only);
}

/// Elements of another type or shape in an array's bytes, as OpenVINO has it for packed types.
PythonTensor from_bytes(py::object array, py::object shape, py::object type) {
  const ArrayView view = view_array(array);
  const TensorDesc desc{to_element_type(type), to_shape(shape)};
  const size_t wanted = take(dense_size_bytes(desc));
  if (wanted != view.tensor.size_bytes()) {
    raise(Status(StatusCode::ShapeMismatch,
                 fmt::format("{} takes {} bytes; the array has {}", to_string(desc), wanted,
                             view.tensor.size_bytes())));
  }
  return PythonTensor(take(Tensor::view(desc, view.tensor.buffer(), view.tensor.offset())),
                      view.is_read_only);
}

PythonTensor allocated(py::object type, py::object shape) {
  Tensor tensor = take(Tensor::allocate({to_element_type(type), to_shape(shape)}));
  std::memset(tensor.bytes(), 0, tensor.size_bytes());
  return PythonTensor(std::move(tensor));
}

void copy_into(const Tensor& from, PythonTensor& to, const char* whose) {
  if (to.is_read_only()) {
    raise(Status(StatusCode::InvalidArgument,
                 fmt::format("{} shows memory that is only to be read", whose)));
  }
  Tensor target = to.tensor();
  if (from.size_bytes() < kLargeCopy) {
    check(copy_tensor(from, target));
  } else {
    check(without_gil([&] { return copy_tensor(from, target); }));
  }
}

std::string text_of(const PythonTensor& self) {
  return "<Tensor: " + to_string(self.tensor().desc()) + ">";
}

}  // namespace

PythonTensor::PythonTensor(Tensor tensor, bool is_read_only)
    : tensor_(take(host_addressable(std::move(tensor)))), is_read_only_(is_read_only) {
  const BufferFormat format = buffer_format(tensor_.type());
  if (format.is_packed) {
    shown_shape_ = {static_cast<Py_ssize_t>(tensor_.size_bytes())};
  } else {
    shown_shape_.assign(tensor_.shape().begin(), tensor_.shape().end());
  }
  shown_strides_.resize(shown_shape_.size());
  auto stride = static_cast<Py_ssize_t>(format.bytes);
  for (size_t i = shown_shape_.size(); i-- > 0;) {
    shown_strides_[i] = stride;
    stride *= shown_shape_[i];
  }
}

py::object array_of(const Tensor& tensor) {
  static const py::handle as_array = imported("numpy", "asarray");
  return as_array(py::cast(PythonTensor(tensor)));
}

py::object array_copy_of(const Tensor& tensor) {
  static const py::handle array = imported("numpy", "array");
  return array(py::cast(PythonTensor(tensor)));
}

py::object python_shape(const Shape& shape) {
  static const py::handle type = imported("hetero.shapes", "Shape");
  py::tuple dims(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) dims[i] = shape[i];
  return type(dims);
}

py::object python_partial_shape(const Shape& shape) {
  static const py::handle type = imported("hetero.shapes", "PartialShape");
  py::list dims;
  for (const int64_t dim : shape) dims.append(dim == kUnknownDim ? -1 : dim);
  return type(dims);
}

Shape to_shape(py::handle object) {
  static const py::handle parse = imported("hetero.shapes", "to_dimensions");
  Shape shape;
  for (const py::handle dim : parse(object)) {
    const auto size = dim.cast<int64_t>();
    shape.push_back(size < 0 ? kUnknownDim : size);
  }
  return shape;
}

void define_tensor(py::module_& module) {
  py::class_<PythonTensor> tensor(
      module, "Tensor", py::custom_type_setup(show_by_buffer_protocol),
      "An array in memory of the library or of whoever gave it. numpy.asarray(tensor), "
      "memoryview(tensor) and torch.from_dlpack(tensor) show its memory without a copy, and keep "
      "it.");
  tensor.def(py::init(&from_array), py::arg("array"), py::arg("shared_memory") = false,
             "From an array (buffer protocol, DLPack, a list). It is copied unless shared_memory "
             "is True; then the tensor shows and keeps it. Raises InvalidArgument when an array "
             "with gaps is to be shared, TypeError when its dtype is no element type.");
  tensor.def(py::init(&from_bytes), py::arg("array"), py::arg("shape"), py::arg("type"),
             "Shows the bytes of an array as elements of another type and shape, for types that "
             "numpy lacks (i4, bf16). Raises ShapeMismatch when the sizes differ.");
  tensor.def(py::init(&allocated), py::arg("type"), py::arg("shape"),
             "Memory of its own, zeroed. Raises InvalidArgument when the shape is open.");
  tensor.def_property_readonly(
      "data", [](py::object self) { return py::module_::import("numpy").attr("asarray")(self); },
      "A numpy array that shows the memory; what it cannot show is shown as Type.to_dtype() says.");
  tensor.def_property_readonly(
      "element_type", [](const PythonTensor& self) { return TypeName{self.tensor().type()}; },
      "Type of its elements.");
  tensor.def(
      "get_element_type", [](const PythonTensor& self) { return TypeName{self.tensor().type()}; },
      "Type of its elements.");
  tensor.def_property_readonly(
      "shape", [](const PythonTensor& self) { return python_shape(self.tensor().shape()); },
      "A hetero.Shape: number of elements along each dimension.");
  tensor.def(
      "get_shape", [](const PythonTensor& self) { return python_shape(self.tensor().shape()); },
      "A hetero.Shape: number of elements along each dimension.");
  tensor.def_property_readonly(
      "size", [](const PythonTensor& self) { return self.tensor().element_count(); },
      "Number of elements.");
  tensor.def(
      "get_size", [](const PythonTensor& self) { return self.tensor().element_count(); },
      "Number of elements.");
  tensor.def_property_readonly(
      "byte_size", [](const PythonTensor& self) { return self.tensor().size_bytes(); },
      "Bytes of all elements.");
  tensor.def(
      "get_byte_size", [](const PythonTensor& self) { return self.tensor().size_bytes(); },
      "Bytes of all elements.");
  tensor.def_property_readonly(
      "strides", [](const PythonTensor& self) { return py::tuple(py::cast(self.shown_strides())); },
      "Bytes between neighbours along each dimension.");
  tensor.def(
      "get_strides",
      [](const PythonTensor& self) { return py::tuple(py::cast(self.shown_strides())); },
      "Bytes between neighbours along each dimension.");
  tensor.def(
      "is_continuous", [](const PythonTensor&) { return true; },
      "True: elements lie row by row without gaps.");
  tensor.def(
      "copy_from",
      [](PythonTensor& self, py::object from) {
        copy_into(view_array_as(from, self.tensor().type(), "the tensor").tensor, self,
                  "the tensor");
      },
      py::arg("source"),
      "Overwrites the elements with those of a tensor or array of the same shape. Raises "
      "ShapeMismatch otherwise.");
  tensor.def(
      "copy_to",
      [](const PythonTensor& self, PythonTensor& to) {
        copy_into(self.tensor(), to, "the destination");
      },
      py::arg("destination"),
      "Overwrites the elements of another Tensor of the same shape and type. Raises ShapeMismatch "
      "otherwise, InvalidArgument when it is only to be read.");
  tensor.def("__copy__",
             [](const PythonTensor& self) { return PythonTensor(take(self.tensor().clone())); });
  tensor.def("__deepcopy__", [](const PythonTensor& self, py::dict) {
    return PythonTensor(take(self.tensor().clone()));
  });
  tensor.def("__repr__", &text_of);
  define_dlpack(tensor);
}

}  // namespace het::python
