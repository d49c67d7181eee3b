#pragma once

#include <Python.h>
#include <gst/gst.h>

namespace het::python {

/// A field's value as an object: bool, int, float, str, list; bytes of a GVariant of bytes; else
/// what PyGObject makes of it. Null with an exception.
PyObject* new_field_value(const GValue* value);

/// Initialises `value`, which holds nothing, from bool, int, float (also numpy's), str, bytes or
/// lists of them. Lists of the fields that metadata has as unsigned numbers become such. False with
/// an exception.
bool set_field_value(GValue* value, const char* field, PyObject* item);

/// What GStreamer takes for the name of a field, or of a structure.
bool is_field_name(const char* name);
/// The UTF-8 of a text that can be a structure's name; null with an exception.
const char* structure_name(PyObject* text);

}  // namespace het::python
