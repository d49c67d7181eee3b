#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <vector>

#include "inference/tensors/tensor.h"

namespace het::python {

namespace py = pybind11;

/// The class Tensor: dense elements that the host can address, shown to Python through the buffer
/// protocol and DLPack. What shows them keeps them.
class PythonTensor {
 public:
  /// Memory that the host cannot address is mapped until the last user lets go; elements that have
  /// gaps or are blocked are copied.
  explicit PythonTensor(Tensor tensor, bool is_read_only = false);

  const Tensor& tensor() const { return tensor_; }
  bool is_read_only() const { return is_read_only_; }
  /// As buffers show it: packed elements in one dimension of bytes.
  const std::vector<Py_ssize_t>& shown_shape() const { return shown_shape_; }
  const std::vector<Py_ssize_t>& shown_strides() const { return shown_strides_; }

 private:
  Tensor tensor_;
  std::vector<Py_ssize_t> shown_shape_;
  std::vector<Py_ssize_t> shown_strides_;
  bool is_read_only_;
};

void define_tensor(py::module_& module);

/// A numpy array that shows the tensor's memory.
py::object array_of(const Tensor& tensor);
/// A numpy array with a copy of it.
py::object array_copy_of(const Tensor& tensor);

/// hetero.Shape and hetero.PartialShape.
py::object python_shape(const Shape& shape);
py::object python_partial_shape(const Shape& shape);
/// From Shape, PartialShape, a sequence of numbers or a text "[1,3,?,?]"; -1 where a dimension is
/// open.
Shape to_shape(py::handle object);

}  // namespace het::python
