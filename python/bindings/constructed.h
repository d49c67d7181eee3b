#pragma once

#include <pybind11/pybind11.h>

namespace het::python {

namespace py = pybind11;

/// The C++ object behind one of Python's, or null while it is made or when __init__ was not called.
template <class Type>
Type* constructed(PyObject* object) {
  auto* const instance = reinterpret_cast<py::detail::instance*>(object);
  const auto values = instance->get_value_and_holder();
  return values.holder_constructed() ? static_cast<Type*>(values.value_ptr()) : nullptr;
}

/// For py::custom_type_setup: Python's garbage collector sees what an object refers to by its
/// visit_objects() and cuts that by clear_objects(), where the object is a part of a cycle that
/// nobody else refers to, such as a callback that knows its request.
template <class Type>
void take_part_in_collection(PyHeapTypeObject* heap_type) {
  PyTypeObject* const type = &heap_type->ht_type;
  type->tp_flags |= Py_TPFLAGS_HAVE_GC;
  type->tp_traverse = [](PyObject* object, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(object));
    const Type* const self = constructed<Type>(object);
    return self == nullptr ? 0 : self->visit_objects(visit, arg);
  };
  type->tp_clear = [](PyObject* object) {
    if (Type* const self = constructed<Type>(object)) self->clear_objects();
    return 0;
  };
}

}  // namespace het::python
