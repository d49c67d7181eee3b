#include "region_class.h"

#include <cstring>
#include <new>
#include <optional>

#include "plugin_table.h"
#include "tensor_class.h"

namespace het::python {
namespace {

constexpr char kDetection[] = "detection";
constexpr char kObjectId[] = "object_id";

/// The last params of this name; null where there are none.
const GstStructure* find_params(const RegionObject& region, const char* name) {
  const GstStructure* found = nullptr;
  for (const GList* link = frame_access().params(region.meta); link; link = link->next) {
    const auto* params = static_cast<const GstStructure*>(link->data);
    if (gst_structure_has_name(params, name)) found = params;
  }
  return found;
}

std::optional<double> detection_number(const RegionObject& region, const char* field) {
  const GstStructure* detection = find_params(region, kDetection);
  double number = 0.0;
  if (detection == nullptr || !gst_structure_get_double(detection, field, &number))
    return std::nullopt;
  return number;
}

PyObject* number_or_none(const std::optional<int>& number) {
  return number ? PyLong_FromLong(*number) : new_none();
}

PyObject* rect(PyObject* self, PyObject*) {
  const RegionObject& region = as_region(self);
  const Rect& rect = region.content.rect;
  return new_rect(state_of(Py_TYPE(self)), PyLong_FromLong(rect.x), PyLong_FromLong(rect.y),
                  PyLong_FromLong(rect.width), PyLong_FromLong(rect.height));
}

PyObject* normalized_rect(PyObject* self, PyObject*) {
  const RegionObject& region = as_region(self);
  if (!check_there(region)) return nullptr;
  const ModuleState& state = state_of(Py_TYPE(self));
  const auto x_min = detection_number(region, "x_min");
  const auto y_min = detection_number(region, "y_min");
  const auto x_max = detection_number(region, "x_max");
  const auto y_max = detection_number(region, "y_max");
  if (x_min && y_min && x_max && y_max)
    return new_rect(state, PyFloat_FromDouble(*x_min), PyFloat_FromDouble(*y_min),
                    PyFloat_FromDouble(*x_max - *x_min), PyFloat_FromDouble(*y_max - *y_min));
  const GstVideoInfo* info = region.frame->info();
  if (info == nullptr) {
    PyErr_SetString(PyExc_RuntimeError,
                    "the size of the picture is not known: make the VideoFrame with caps");
    return nullptr;
  }
  const Rect& rect = region.content.rect;
  const double width = GST_VIDEO_INFO_WIDTH(info);
  const double height = GST_VIDEO_INFO_HEIGHT(info);
  return new_rect(state, PyFloat_FromDouble(rect.x / width), PyFloat_FromDouble(rect.y / height),
                  PyFloat_FromDouble(rect.width / width), PyFloat_FromDouble(rect.height / height));
}

PyObject* label(PyObject* self, PyObject*) {
  return new_text(as_region(self).content.type);
}

PyObject* confidence(PyObject* self, PyObject*) {
  const RegionObject& region = as_region(self);
  if (!check_there(region)) return nullptr;
  if (const auto number = detection_number(region, "confidence"))
    return PyFloat_FromDouble(*number);
  if (region.content.confidence)
    return PyFloat_FromDouble(static_cast<double>(*region.content.confidence));
  return new_none();
}

PyObject* rotation(PyObject* self, PyObject*) {
  const RegionObject& region = as_region(self);
  if (!check_there(region)) return nullptr;
  if (const auto number = detection_number(region, "rotation")) return PyFloat_FromDouble(*number);
  const auto& turned = region.content.turned;
  return PyFloat_FromDouble(turned ? static_cast<double>(turned->rotation) : 0.0);
}

PyObject* label_id(PyObject* self, PyObject*) {
  const RegionObject& region = as_region(self);
  if (!check_there(region)) return nullptr;
  const GstStructure* detection = find_params(region, kDetection);
  int id = 0;
  if (detection == nullptr || !gst_structure_get_int(detection, "label_id", &id)) return new_none();
  return PyLong_FromLong(id);
}

PyObject* object_id(PyObject* self, PyObject*) {
  const RegionObject& region = as_region(self);
  if (!check_there(region)) return nullptr;
  return number_or_none(frame_access().object_id(region.meta));
}

PyObject* set_object_id(PyObject* self, PyObject* number) {
  RegionObject& region = as_region(self);
  const long id = PyLong_AsLong(number);
  if (id == -1 && PyErr_Occurred() != nullptr) return nullptr;
  if (id < 0 || id > G_MAXINT) {
    PyErr_Format(PyExc_ValueError, "an object's id is from 0 to %d, not %ld", G_MAXINT, id);
    return nullptr;
  }
  if (!check_there(region) || !region.frame->check_writable()) return nullptr;
  frame_access().set_object_id(region.meta, static_cast<int>(id));
  region.frame->refresh_regions();
  Py_RETURN_NONE;
}

PyObject* region_id(PyObject* self, PyObject*) {
  return number_or_none(as_region(self).content.id);
}

PyObject* parent_id(PyObject* self, PyObject*) {
  return number_or_none(as_region(self).content.parent_id);
}

PyObject* tensors(PyObject* self, PyObject*) {
  RegionObject& region = as_region(self);
  if (!check_there(region)) return nullptr;
  Owned list(PyList_New(0));
  if (!list || !append_tensors(state_of(Py_TYPE(self)), region, list.get())) return nullptr;
  return list.release();
}

PyObject* detection(PyObject* self, PyObject*) {
  RegionObject& region = as_region(self);
  if (!check_there(region)) return nullptr;
  size_t index = 0;
  std::optional<size_t> found;
  for (const GList* link = frame_access().params(region.meta); link; link = link->next, ++index) {
    if (gst_structure_has_name(static_cast<const GstStructure*>(link->data), kDetection))
      found = index;
  }
  const ModuleState& state = state_of(Py_TYPE(self));
  if (found) return new_tensor(state, self, *found);
  if (!region.frame->check_writable()) return nullptr;
  return add_params(state, region, gst_structure_new_empty(kDetection));
}

PyObject* add_tensor(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"tensor", nullptr};
  PyObject* tensor = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:add_tensor", const_cast<char**>(names),
                                   &tensor))
    return nullptr;
  RegionObject& region = as_region(self);
  if (!check_there(region) || !region.frame->check_writable()) return nullptr;
  const ModuleState& state = state_of(Py_TYPE(self));
  GstStructure* params = new_params(state, tensor);
  return params != nullptr ? add_params(state, region, params) : nullptr;
}

PyObject* represent(PyObject* self) {
  const RegionObject& region = as_region(self);
  const Owned text(new_text(region.content.type));
  if (!text) return nullptr;
  const Rect& rect = region.content.rect;
  return PyUnicode_FromFormat("<RegionOfInterest %R at x=%d, y=%d, w=%d, h=%d%s>", text.get(),
                              rect.x, rect.y, rect.width, rect.height,
                              region.is_removed ? ", removed" : "");
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  RegionObject& region = as_region(self);
  region.frame->forget_region(&region);
  region.frame.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef methods[] = {
    {"rect", rect, METH_NOARGS,
     "rect() -> Rect\n\nPlace in the picture: x, y, w, h in pixels; around a turned box."},
    {"normalized_rect", normalized_rect, METH_NOARGS,
     "normalized_rect() -> Rect\n\nPlace as parts of the picture (0..1)."},
    {"label", label, METH_NOARGS, "label() -> str\n\nClass; empty where it is not known."},
    {"label_id", label_id, METH_NOARGS,
     "label_id() -> int or None\n\nNumber of the class in the model."},
    {"confidence", confidence, METH_NOARGS,
     "confidence() -> float or None\n\nOf the detection, 0..1."},
    {"rotation", rotation, METH_NOARGS,
     "rotation() -> float\n\nOf a turned box about its centre, in radians, clockwise; else 0."},
    {"object_id", object_id, METH_NOARGS,
     "object_id() -> int or None\n\nWho it is over frames, from heterotrack or another tracker."},
    {"set_object_id", set_object_id, METH_O,
     "set_object_id(id)\n\nSays who it is; replaces what was said before."},
    {"region_id", region_id, METH_NOARGS,
     "region_id() -> int or None\n\nWhich of the frame's regions it is."},
    {"parent_id", parent_id, METH_NOARGS,
     "parent_id() -> int or None\n\nThe region_id() of the object that it was found in."},
    {"tensors", tensors, METH_NOARGS,
     "tensors() -> list of Tensor\n\nAll that is known about it: the detection, classifications, "
     "landmarks, outputs. What other elements attached as GstAnalyticsRelationMeta are copies."},
    {"detection", detection, METH_NOARGS,
     "detection() -> Tensor\n\nThe tensor 'detection'; an empty one is added where there is none."},
    {"add_tensor", with_keywords(add_tensor), METH_VARARGS | METH_KEYWORDS,
     "add_tensor(tensor='tensor') -> Tensor\n\nAdds a copy of a Tensor, or an empty one of this "
     "name, and gives the one in the frame."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char*>("An object of a frame, or another region of it: what "
                                  "VideoFrame.regions() and VideoFrame.add_region() give.")},
    {Py_tp_methods, methods},
    {Py_tp_repr, reinterpret_cast<void*>(represent)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {0, nullptr}};

}  // namespace

PyType_Spec region_spec = {
    "hetero.gst._gst.RegionOfInterest", sizeof(RegionObject), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

PyObject* new_region(const ModuleState& state, const std::shared_ptr<FrameHandle>& frame,
                     const gst::RegionMeta& meta, size_t index) {
  PyTypeObject* type = state.region_class;
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) return nullptr;
  RegionObject& region = as_region(self);
  new (&region.frame) std::shared_ptr<FrameHandle>(frame);
  new (&region.meta) gst::RegionMeta(meta);
  new (&region.content) gst::RegionContent(frame_access().content(meta));
  region.index = index;
  region.is_removed = false;
  frame->add_region(&region);
  return self;
}

bool check_there(const RegionObject& region) {
  if (!region.is_removed) return true;
  PyErr_SetString(PyExc_RuntimeError, "this region was removed from its frame");
  return false;
}

bool append_tensors(const ModuleState& state, RegionObject& region, PyObject* list) {
  size_t index = 0;
  for (const GList* link = frame_access().params(region.meta); link; link = link->next, ++index) {
    if (gst_structure_has_name(static_cast<const GstStructure*>(link->data), kObjectId)) continue;
    const Owned tensor(new_tensor(state, reinterpret_cast<PyObject*>(&region), index));
    if (!tensor || PyList_Append(list, tensor.get()) != 0) return false;
  }
  GstVideoInfo unknown;
  gst_video_info_init(&unknown);
  const GstVideoInfo* info = region.frame->info();
  bool complete = true;
  for (GstStructure* params :
       frame_access().params_of_others(region.meta, info != nullptr ? *info : unknown)) {
    if (!complete || gst_structure_has_name(params, kObjectId)) {
      gst_structure_free(params);
      continue;
    }
    const Owned tensor(new_tensor_of(state, params));
    complete = tensor && PyList_Append(list, tensor.get()) == 0;
  }
  return complete;
}

PyObject* add_params(const ModuleState& state, RegionObject& region, GstStructure* params) {
  frame_access().add_params(region.meta, params);
  region.frame->refresh_regions();
  const guint count = g_list_length(const_cast<GList*>(frame_access().params(region.meta)));
  return new_tensor(state, reinterpret_cast<PyObject*>(&region), count - 1);
}

}  // namespace het::python
