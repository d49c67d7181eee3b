#pragma once

#include <pybind11/pybind11.h>

#include "python/bindings/tensors.h"

namespace het::python {

/// A tensor that shows the memory of an object with __dlpack__, which is kept until the last user
/// lets go; with strides where elements have gaps. Raises NotSupported for memory that the host
/// cannot address, TypeError for elements that are no plain numbers.
Tensor from_dlpack(py::handle object);

/// __dlpack__ and __dlpack_device__ of the class.
void define_dlpack(py::class_<PythonTensor>& tensor);

}  // namespace het::python
