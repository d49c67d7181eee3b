#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "inference/tensors/image.h"

namespace het::python {

namespace py = pybind11;

/// What a picture's memory means where the object does not say it.
struct PictureMeaning {
  std::string format;  ///< as PixelFormat's names; empty: by shape, BGR for numpy, RGB for others
  std::string matrix = "bt601";
  bool full_range = false;
};

/// A picture in an array (numpy, OpenCV, DLPack), a tuple of planes, or a PIL image, without a copy
/// where pixels lie side by side. Raises TypeError or InvalidArgument saying what is taken.
Image to_image(py::handle object, const PictureMeaning& meaning);

}  // namespace het::python
