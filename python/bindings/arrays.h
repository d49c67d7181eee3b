#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <string_view>

#include "inference/tensors/tensor.h"

namespace het::python {

namespace py = pybind11;

/// The memory of a Python object as a tensor: what is shared is kept until the last user of the
/// tensor lets go.
struct ArrayView {
  Tensor tensor;
  bool is_read_only = false;
};

/// A Tensor, or what has the buffer protocol (numpy, bytes, array, memoryview) or DLPack (torch in
/// host memory), without copying where elements lie row by row without gaps; else a copy is made.
/// Of everything else numpy makes an array (lists, numbers). Raises TypeError for what has no
/// elements of a tensor's type.
ArrayView view_array(py::handle object);

/// The same without copying elements that have gaps between them, as those of a part of a picture
/// do; the tensor then has strides.
ArrayView view_strided(py::handle object);

/// The same as elements of this type: a copy where they are of another, by numpy's rule
/// 'same_kind'; `what` and `name` tell the receiver in errors: "input", "images".
ArrayView view_array_as(py::handle object, ElementType type, std::string_view what,
                        std::string_view name = {});

}  // namespace het::python
