#pragma once

#include <Python.h>
#include <gst/gst.h>

#include "module_state.h"

namespace het::python {

extern PyType_Spec tensor_spec;

/// A new Tensor for the n-th params of a RegionOfInterest.
PyObject* new_tensor(const ModuleState& state, PyObject* region, size_t index);
/// A new Tensor of its own, which takes the structure over.
PyObject* new_tensor_of(const ModuleState& state, GstStructure* structure);
/// What add_tensor() adds: a copy of a Tensor or Gst.Structure, an empty structure of a name, or,
/// where the argument is null, of the name "tensor". Null with an exception.
GstStructure* new_params(const ModuleState& state, PyObject* argument);

}  // namespace het::python
