#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <string_view>

#include "inference/devices/properties.h"

namespace het::python {

namespace py = pybind11;

/// A value as properties have it: True is YES, a Type its name, an enumerator its value, sequences
/// are joined by commas, a dict becomes {KEY:VALUE}; None is an empty text.
std::string property_value(py::handle object);

/// From a dict, a tuple (name, value), a list of tuples or None.
Properties to_properties(py::handle object);

/// What Python's users expect for a property: bool, int, Type, an enumerator of hetero.properties,
/// a list or tuple; otherwise the text.
py::object python_value(std::string_view name, std::string_view device, const std::string& value);

}  // namespace het::python
