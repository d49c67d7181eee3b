#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "inference/tensors/element_type.h"

namespace het::python {

namespace py = pybind11;

/// The class Type: element types with OpenVINO's names.
struct TypeName {
  ElementType type = ElementType::Undefined;
};

void define_type(py::module_& module);

/// A Type, a numpy dtype (class or object) or a name ("f32", "float32"). Raises TypeError
/// otherwise, and for dtypes in the other byte order.
ElementType to_element_type(py::handle object);

/// How numpy shows elements: format of the buffer protocol and bytes of one. Types that numpy lacks
/// are shown as unsigned integers of their width, those of less than a byte as packed bytes.
struct BufferFormat {
  const char* format;
  size_t bytes;
  bool is_packed;  ///< several elements share a byte; shown in one dimension
};
BufferFormat buffer_format(ElementType type);

/// The type of a buffer with this format ("f", "<i8" ...); nothing where no tensor has such.
std::optional<ElementType> type_of_format(const char* format, size_t item_bytes);

}  // namespace het::python
