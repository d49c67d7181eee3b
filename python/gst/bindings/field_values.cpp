#include "field_values.h"

#include <cstring>
#include <limits>
#include <vector>

#include "gi_objects.h"
#include "objects.h"

namespace het::python {
namespace {

template <class Size, class Item>
PyObject* new_list(Size size, Item item) {
  Owned list(PyList_New(static_cast<Py_ssize_t>(size)));
  for (Size i = 0; list && i < size; ++i) {
    PyObject* value = new_field_value(item(i));
    if (value == nullptr) return nullptr;
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), value);
  }
  return list.release();
}

/// As GStreamer's metadata has them: dims of tensors, pairs of points.
bool is_unsigned_list(const char* field) {
  return std::strcmp(field, "dims") == 0 || std::strcmp(field, "point_connections") == 0;
}

bool set_integer(GValue* value, PyObject* item, bool is_unsigned) {
  const Owned number(PyNumber_Index(item));
  if (!number) return false;
  int overflow = 0;
  const long long number_of = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  if (overflow != 0 || (is_unsigned && (number_of < 0 || number_of > G_MAXUINT))) {
    PyErr_Format(PyExc_OverflowError, "%S does not fit into a field%s", number.get(),
                 is_unsigned ? " of unsigned numbers of 32 bits" : "");
    return false;
  }
  if (is_unsigned) {
    g_value_init(value, G_TYPE_UINT);
    g_value_set_uint(value, static_cast<guint>(number_of));
  } else if (number_of >= std::numeric_limits<int>::min() &&
             number_of <= std::numeric_limits<int>::max()) {
    g_value_init(value, G_TYPE_INT);
    g_value_set_int(value, static_cast<int>(number_of));
  } else {
    g_value_init(value, G_TYPE_INT64);
    g_value_set_int64(value, number_of);
  }
  return true;
}

bool set_bytes(GValue* value, PyObject* item) {
  Py_buffer view;
  if (PyObject_GetBuffer(item, &view, PyBUF_SIMPLE) != 0) return false;
  g_value_init(value, G_TYPE_VARIANT);
  g_value_take_variant(value, g_variant_ref_sink(g_variant_new_fixed_array(
                                  G_VARIANT_TYPE_BYTE, view.buf, static_cast<gsize>(view.len), 1)));
  PyBuffer_Release(&view);
  return true;
}

bool set_value(GValue* value, PyObject* item, bool is_unsigned);

/// Arrays of GStreamer have values of one type; numbers become the widest among them.
bool fits(GType type, GType& all) {
  if (all == G_TYPE_INVALID || all == type) {
    all = type;
    return true;
  }
  const auto rank = [](GType number) {
    return number == G_TYPE_INT ? 1 : number == G_TYPE_INT64 ? 2 : number == G_TYPE_DOUBLE ? 3 : 0;
  };
  if (rank(type) == 0 || rank(all) == 0) return false;
  if (rank(type) > rank(all)) all = type;
  return true;
}

struct Entries {
  std::vector<GValue> values;
  ~Entries() {
    for (GValue& value : values) {
      if (G_IS_VALUE(&value)) g_value_unset(&value);
    }
  }
};

bool set_list(GValue* value, PyObject* item, bool is_unsigned) {
  const Owned items(PySequence_Fast(item, "a list is needed"));
  if (!items) return false;
  Entries entries;
  GType all = G_TYPE_INVALID;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
    GValue& entry = entries.values.emplace_back(GValue(G_VALUE_INIT));
    if (!set_value(&entry, PySequence_Fast_GET_ITEM(items.get(), i), is_unsigned)) return false;
    if (!fits(G_VALUE_TYPE(&entry), all)) {
      PyErr_SetString(PyExc_TypeError, "the values of a list in a field must be of one type");
      return false;
    }
  }
  g_value_init(value, GST_TYPE_ARRAY);
  for (const GValue& entry : entries.values) {
    GValue same = G_VALUE_INIT;
    g_value_init(&same, all);
    g_value_transform(&entry, &same);
    gst_value_array_append_and_take_value(value, &same);
  }
  return true;
}

bool set_value(GValue* value, PyObject* item, bool is_unsigned) {
  if (PyBool_Check(item)) {
    g_value_init(value, G_TYPE_BOOLEAN);
    g_value_set_boolean(value, item == Py_True);
    return true;
  }
  if (PyUnicode_Check(item)) {
    const char* text = PyUnicode_AsUTF8(item);
    if (text == nullptr) return false;
    g_value_init(value, G_TYPE_STRING);
    g_value_set_string(value, text);
    return true;
  }
  if (PyIndex_Check(item) != 0) return set_integer(value, item, is_unsigned);
  if (PyBytes_Check(item) || PyByteArray_Check(item) || PyMemoryView_Check(item))
    return set_bytes(value, item);
  if (PyList_Check(item) || PyTuple_Check(item)) return set_list(value, item, is_unsigned);
  const PyNumberMethods* number = Py_TYPE(item)->tp_as_number;
  if (PyFloat_Check(item) || (number != nullptr && number->nb_float != nullptr)) {
    const double number_of = PyFloat_AsDouble(item);
    if (number_of == -1.0 && PyErr_Occurred() != nullptr) return false;
    g_value_init(value, G_TYPE_DOUBLE);
    g_value_set_double(value, number_of);
    return true;
  }
  PyErr_Format(PyExc_TypeError,
               "a field can be bool, int, float, str, bytes or a list of them, not %.100s",
               Py_TYPE(item)->tp_name);
  return false;
}

}  // namespace

PyObject* new_field_value(const GValue* value) {
  switch (G_VALUE_TYPE(value)) {
    case G_TYPE_STRING: {
      const char* text = g_value_get_string(value);
      return text != nullptr ? new_text(text) : new_none();
    }
    case G_TYPE_BOOLEAN:
      return PyBool_FromLong(g_value_get_boolean(value));
    case G_TYPE_INT:
      return PyLong_FromLong(g_value_get_int(value));
    case G_TYPE_UINT:
      return PyLong_FromUnsignedLong(g_value_get_uint(value));
    case G_TYPE_LONG:
      return PyLong_FromLong(g_value_get_long(value));
    case G_TYPE_ULONG:
      return PyLong_FromUnsignedLong(g_value_get_ulong(value));
    case G_TYPE_INT64:
      return PyLong_FromLongLong(g_value_get_int64(value));
    case G_TYPE_UINT64:
      return PyLong_FromUnsignedLongLong(g_value_get_uint64(value));
    case G_TYPE_FLOAT:
      return PyFloat_FromDouble(static_cast<double>(g_value_get_float(value)));
    case G_TYPE_DOUBLE:
      return PyFloat_FromDouble(g_value_get_double(value));
    default:
      break;
  }
  if (GST_VALUE_HOLDS_ARRAY(value))
    return new_list(gst_value_array_get_size(value),
                    [&](guint i) { return gst_value_array_get_value(value, i); });
  if (GST_VALUE_HOLDS_LIST(value))
    return new_list(gst_value_list_get_size(value),
                    [&](guint i) { return gst_value_list_get_value(value, i); });
  if (G_VALUE_HOLDS_VARIANT(value)) {
    GVariant* variant = g_value_get_variant(value);
    if (variant == nullptr) return new_none();
    if (g_variant_is_of_type(variant, G_VARIANT_TYPE_BYTESTRING))
      return PyBytes_FromStringAndSize(static_cast<const char*>(g_variant_get_data(variant)),
                                       static_cast<Py_ssize_t>(g_variant_get_size(variant)));
  }
  return new_gi_value(value);
}

bool set_field_value(GValue* value, const char* field, PyObject* item) {
  return set_value(value, item, is_unsigned_list(field));
}

bool is_field_name(const char* name) {
  if (!g_ascii_isalpha(*name)) return false;
  for (const char* letter = name; *letter != '\0'; ++letter) {
    if (!g_ascii_isalnum(*letter) && std::strchr(" /-_.:+", *letter) == nullptr) return false;
  }
  return true;
}

const char* structure_name(PyObject* text) {
  const char* name = utf8_of(text, "a tensor's name");
  if (name == nullptr || is_field_name(name)) return name;
  PyErr_Format(PyExc_ValueError,
               "%R cannot be a tensor's name: it begins with a letter, and letters, digits and "
               "- _ . : + / or blanks follow",
               text);
  return nullptr;
}

}  // namespace het::python
