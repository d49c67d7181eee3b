#pragma once

#include <Python.h>

#include <string>

#include "python/gst/element/script.h"

namespace het::python {

/// The pending exception, which is no longer pending then; a new reference.
PyObject* take_exception();

/// The pending exception in words. `module` is the element's property.
ScriptFailure take_failure(PyObject* loader, const std::string& module);

/// Ends this process, a child of fork() that has come back from the script, as Python would end it
/// after the pending exception, if there is one.
[[noreturn]] void end_child(PyObject* loader);

}  // namespace het::python
