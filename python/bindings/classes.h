#pragma once

#include <pybind11/pybind11.h>

namespace het::python {

namespace py = pybind11;

// Classes that only the module itself needs to know, each in the file of its name.
void define_queues(py::module_& module);
void define_cores(py::module_& module);
void define_vision(py::module_& module);
void define_trackers(py::module_& module);

}  // namespace het::python
