#include "tensor_class.h"

#include "field_values.h"
#include "gi_objects.h"
#include "plugin_table.h"
#include "region_class.h"

namespace het::python {
namespace {

/// Params of a region, or a structure of its own.
struct TensorObject {
  PyObject ob_base;
  PyObject* region;         ///< owned; null: a structure of its own
  size_t index;             ///< among the region's params
  GstStructure* structure;  ///< owned; null: the region's
};

TensorObject& as_tensor(PyObject* object) {
  return *reinterpret_cast<TensorObject*>(object);
}

/// Params lie elsewhere after metadata was removed, so they are looked for each time. Null with an
/// exception.
GstStructure* structure_of(PyObject* self) {
  const TensorObject& tensor = as_tensor(self);
  if (tensor.structure != nullptr) return tensor.structure;
  const RegionObject& region = as_region(tensor.region);
  if (!check_there(region)) return nullptr;
  auto* params = const_cast<GList*>(frame_access().params(region.meta));
  auto* found =
      static_cast<GstStructure*>(g_list_nth_data(params, static_cast<guint>(tensor.index)));
  if (found == nullptr)
    PyErr_SetString(PyExc_RuntimeError, "this tensor is no longer in its frame");
  return found;
}

GstStructure* writable_structure_of(PyObject* self) {
  GstStructure* structure = structure_of(self);
  const TensorObject& tensor = as_tensor(self);
  if (structure == nullptr || tensor.structure != nullptr) return structure;
  return as_region(tensor.region).frame->check_writable() ? structure : nullptr;
}

PyObject* name(PyObject* self, PyObject*) {
  const GstStructure* structure = structure_of(self);
  return structure != nullptr ? new_text(gst_structure_get_name(structure)) : nullptr;
}

PyObject* set_name(PyObject* self, PyObject* text) {
  GstStructure* structure = writable_structure_of(self);
  const char* name = structure != nullptr ? structure_name(text) : nullptr;
  if (name == nullptr) return nullptr;
  gst_structure_set_name(structure, name);
  Py_RETURN_NONE;
}

PyObject* fields(PyObject* self, PyObject*) {
  const GstStructure* structure = structure_of(self);
  if (structure == nullptr) return nullptr;
  const int count = gst_structure_n_fields(structure);
  Owned list(PyList_New(0));
  for (int i = 0; list && i < count; ++i) {
    const Owned text(new_text(gst_structure_nth_field_name(structure, static_cast<guint>(i))));
    if (!text || PyList_Append(list.get(), text.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* has_field(PyObject* self, PyObject* key) {
  const GstStructure* structure = structure_of(self);
  const char* field = structure != nullptr ? utf8_of(key, "a field's name") : nullptr;
  if (field == nullptr) return nullptr;
  return PyBool_FromLong(gst_structure_has_field(structure, field));
}

PyObject* get(PyObject* self, PyObject* key) {
  const GstStructure* structure = structure_of(self);
  const char* field = structure != nullptr ? utf8_of(key, "a field's name") : nullptr;
  if (field == nullptr) return nullptr;
  const GValue* value = gst_structure_get_value(structure, field);
  return value != nullptr ? new_field_value(value) : new_none();
}

int set(PyObject* self, PyObject* key, PyObject* item) {
  GstStructure* structure = writable_structure_of(self);
  const char* field = structure != nullptr ? utf8_of(key, "a field's name") : nullptr;
  if (field == nullptr) return -1;
  if (item == nullptr) {
    gst_structure_remove_field(structure, field);
    return 0;
  }
  if (!is_field_name(field)) {
    PyErr_Format(PyExc_ValueError,
                 "'%s' cannot be a field's name: it begins with a letter, and letters, digits and "
                 "- _ . : + / or blanks follow",
                 field);
    return -1;
  }
  GValue value = G_VALUE_INIT;
  if (!set_field_value(&value, field, item)) return -1;
  gst_structure_take_value(structure, field, &value);
  return 0;
}

Py_ssize_t length(PyObject* self) {
  const GstStructure* structure = structure_of(self);
  return structure != nullptr ? gst_structure_n_fields(structure) : -1;
}

/// (name, value) of all fields, as they are now.
PyObject* iterate(PyObject* self) {
  const Owned names(fields(self, nullptr));
  if (!names) return nullptr;
  Owned pairs(PyList_New(0));
  for (Py_ssize_t i = 0; pairs && i < PyList_GET_SIZE(names.get()); ++i) {
    PyObject* key = PyList_GET_ITEM(names.get(), i);
    const Owned value(get(self, key));
    const Owned pair(value ? PyTuple_Pack(2, key, value.get()) : nullptr);
    if (!pair || PyList_Append(pairs.get(), pair.get()) != 0) return nullptr;
  }
  return pairs ? PyObject_GetIter(pairs.get()) : nullptr;
}

PyObject* bytes(PyObject* self, PyObject*) {
  const GstStructure* structure = structure_of(self);
  if (structure == nullptr) return nullptr;
  const GValue* value = gst_structure_get_value(structure, "data_buffer");
  if (value == nullptr || !G_VALUE_HOLDS_VARIANT(value)) return new_none();
  return new_field_value(value);
}

/// Takes the structure over.
PyObject* own_tensor(PyTypeObject* type, GstStructure* structure) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) {
    gst_structure_free(structure);
    return nullptr;
  }
  as_tensor(self).structure = structure;
  return self;
}

PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"name", nullptr};
  PyObject* argument = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:Tensor", const_cast<char**>(names),
                                   &argument))
    return nullptr;
  GstStructure* structure = new_params(state_of(type), argument);
  return structure != nullptr ? own_tensor(type, structure) : nullptr;
}

void dealloc_tensor(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  TensorObject& tensor = as_tensor(self);
  if (tensor.structure != nullptr) gst_structure_free(tensor.structure);
  Py_XDECREF(tensor.region);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef tensor_methods[] = {
    {"name", name, METH_NOARGS, "name() -> str\n\nWhat it is: 'detection', 'classification' ..."},
    {"set_name", set_name, METH_O, "set_name(name)\n\nGives it another name."},
    {"fields", fields, METH_NOARGS, "fields() -> list of str\n\nNames of its fields."},
    {"has_field", has_field, METH_O, "has_field(name) -> bool\n\nWhether there is such a field."},
    {"_bytes", bytes, METH_NOARGS, "The field data_buffer as bytes; None without it."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot tensor_slots[] = {
    {Py_tp_doc, const_cast<char*>(
                    "Tensor(name='tensor')\n\nNamed values about a region or a frame, with the "
                    "fields of DL Streamer's tensors; tensor[field] is None where there is none. "
                    "Fields can be bool, int, float, str, bytes and lists of them.")},
    {Py_tp_new, reinterpret_cast<void*>(create)},
    {Py_tp_methods, tensor_methods},
    {Py_tp_iter, reinterpret_cast<void*>(iterate)},
    {Py_mp_subscript, reinterpret_cast<void*>(get)},
    {Py_mp_ass_subscript, reinterpret_cast<void*>(set)},
    {Py_mp_length, reinterpret_cast<void*>(length)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_tensor)},
    {0, nullptr}};

}  // namespace

PyType_Spec tensor_spec = {"hetero.gst._gst.Tensor", sizeof(TensorObject), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, tensor_slots};

PyObject* new_tensor(const ModuleState& state, PyObject* region, size_t index) {
  PyTypeObject* type = state.tensor_class;
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  TensorObject& tensor = as_tensor(self);
  tensor.region = Py_NewRef(region);
  tensor.index = index;
  return self;
}

PyObject* new_tensor_of(const ModuleState& state, GstStructure* structure) {
  return own_tensor(state.tensor_class, structure);
}

GstStructure* new_params(const ModuleState& state, PyObject* argument) {
  if (argument == nullptr) return gst_structure_new_empty("tensor");
  if (PyObject_TypeCheck(argument, state.tensor_type)) {
    const GstStructure* structure = structure_of(argument);
    return structure != nullptr ? gst_structure_copy(structure) : nullptr;
  }
  if (PyUnicode_Check(argument)) {
    if (PyUnicode_GET_LENGTH(argument) == 0) return gst_structure_new_empty("tensor");
    const char* name = structure_name(argument);
    return name != nullptr ? gst_structure_new_empty(name) : nullptr;
  }
  if (const GstStructure* structure = gst_structure_of(argument))
    return gst_structure_copy(structure);
  PyErr_Format(PyExc_TypeError, "a Tensor, its name or a Gst.Structure is needed, not %.100s",
               Py_TYPE(argument)->tp_name);
  return nullptr;
}

}  // namespace het::python
