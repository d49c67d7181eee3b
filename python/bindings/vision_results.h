#pragma once

#include <pybind11/pybind11.h>

#include "inference/decoders/results.h"

namespace het::python {

namespace py = pybind11;

/// What was found on a picture of this size, for python/hetero/vision_results.py.
struct PythonResults {
  Results found;
  int width = 0;
  int height = 0;
};

void define_vision_results(py::module_& module);

}  // namespace het::python
