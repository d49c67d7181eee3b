#include "gi_objects.h"

#include <pygobject.h>

namespace het::python {
namespace {

/// Imports PyGObject at the first call.
bool has_gi() {
  if (_PyGObject_API != nullptr) return true;
  PyObject* gi = pygobject_init(3, 0, 0);
  Py_XDECREF(gi);
  return gi != nullptr;
}

/// What an object of PyGObject stands for, where it is of this type.
gpointer boxed_of(PyObject* object, GType type) {
  if (!has_gi()) {
    PyErr_Clear();
    return nullptr;
  }
  if (!PyObject_TypeCheck(object, &PyGBoxed_Type)) return nullptr;
  const auto* boxed = reinterpret_cast<const PyGBoxed*>(object);
  return g_type_is_a(boxed->gtype, type) ? boxed->boxed : nullptr;
}

PyObject* new_boxed(GType type, gconstpointer boxed, bool copy, bool own) {
  if (!has_gi()) return nullptr;
  return pyg_boxed_new(type, const_cast<gpointer>(boxed), copy ? TRUE : FALSE, own ? TRUE : FALSE);
}

}  // namespace

GstBuffer* gst_buffer_of(PyObject* object) {
  if (!has_gi()) return nullptr;
  auto* buffer = static_cast<GstBuffer*>(boxed_of(object, GST_TYPE_BUFFER));
  if (buffer == nullptr)
    PyErr_Format(PyExc_TypeError, "a Gst.Buffer is needed, not %.100s", Py_TYPE(object)->tp_name);
  return buffer;
}

GstCaps* gst_caps_of(PyObject* object) {
  return static_cast<GstCaps*>(boxed_of(object, GST_TYPE_CAPS));
}

const GstVideoInfo* gst_video_info_of(PyObject* object) {
  return static_cast<const GstVideoInfo*>(boxed_of(object, GST_TYPE_VIDEO_INFO));
}

const GstStructure* gst_structure_of(PyObject* object) {
  return static_cast<const GstStructure*>(boxed_of(object, GST_TYPE_STRUCTURE));
}

PyObject* new_gst_buffer(GstBuffer* buffer, bool with_reference) {
  return new_boxed(GST_TYPE_BUFFER, buffer, with_reference, with_reference);
}

void give_reference(PyObject* buffer) {
  auto* boxed = reinterpret_cast<PyGBoxed*>(buffer);
  gst_buffer_ref(static_cast<GstBuffer*>(boxed->boxed));
  boxed->free_on_dealloc = TRUE;
}

PyObject* new_gst_caps(GstCaps* caps) {
  return new_boxed(GST_TYPE_CAPS, caps, true, true);
}

PyObject* new_gst_video_info(const GstVideoInfo& info) {
  return new_boxed(GST_TYPE_VIDEO_INFO, &info, true, true);
}

PyObject* lend_buffer(PyObject*, PyObject* object) {
  GstBuffer* buffer = gst_buffer_of(object);
  if (buffer == nullptr) return nullptr;
  auto* boxed = reinterpret_cast<PyGBoxed*>(object);
  // One without a reference, as PyGObject gives vfuncs today, or with the only one is writable.
  if (boxed->free_on_dealloc == FALSE || gst_buffer_is_writable(buffer)) Py_RETURN_FALSE;
  boxed->free_on_dealloc = FALSE;
  gst_buffer_unref(buffer);
  Py_RETURN_TRUE;
}

PyObject* give_buffer_back(PyObject*, PyObject* object) {
  if (gst_buffer_of(object) == nullptr) return nullptr;
  if (reinterpret_cast<PyGBoxed*>(object)->free_on_dealloc == FALSE) give_reference(object);
  Py_RETURN_NONE;
}

PyObject* probe_buffer(PyObject*, PyObject* object) {
  if (!has_gi()) return nullptr;
  if (!PyObject_TypeCheck(object, &PyGPointer_Type)) {
    PyErr_Format(PyExc_TypeError, "a Gst.PadProbeInfo is needed, not %.100s",
                 Py_TYPE(object)->tp_name);
    return nullptr;
  }
  auto* info = static_cast<GstPadProbeInfo*>(reinterpret_cast<PyGPointer*>(object)->pointer);
  if (info == nullptr || (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) == 0 ||
      GST_PAD_PROBE_INFO_DATA(info) == nullptr) {
    PyErr_SetString(PyExc_ValueError,
                    "this probe has no buffer: add it with Gst.PadProbeType.BUFFER");
    return nullptr;
  }
  GST_PAD_PROBE_INFO_DATA(info) = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  return new_gst_buffer(GST_PAD_PROBE_INFO_BUFFER(info), false);
}

PyObject* new_gi_value(const GValue* value) {
  if (!has_gi()) return nullptr;
  return pyg_value_as_pyobject(value, TRUE);
}

}  // namespace het::python
