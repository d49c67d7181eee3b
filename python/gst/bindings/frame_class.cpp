#include "frame_class.h"

#include <cmath>
#include <new>
#include <string>

#include "gi_objects.h"
#include "pixels.h"
#include "plugin_table.h"
#include "region_class.h"
#include "tensor_class.h"

namespace het::python {
namespace {

/// VideoFrame of Python.
struct FrameObject {
  PyObject ob_base;
  std::shared_ptr<FrameHandle> frame;
};

FrameObject& as_frame(PyObject* object) {
  return *reinterpret_cast<FrameObject*>(object);
}

FrameHandle& handle_of(PyObject* object) {
  return *as_frame(object).frame;
}

PyObject* new_frame(PyTypeObject* type, std::shared_ptr<FrameHandle> handle) {
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) new (&as_frame(self).frame) std::shared_ptr(std::move(handle));
  return self;
}

/// Null with an exception where the size of the picture is not known.
const GstVideoInfo* known_info(const FrameHandle& frame) {
  if (frame.info() == nullptr)
    PyErr_SetString(PyExc_RuntimeError,
                    "the format of this buffer is not known: it is no raw video, or the VideoFrame "
                    "was made without caps and the buffer has no GstVideoMeta");
  return frame.info();
}

/// The format that the arguments of VideoFrame() tell, or the buffer itself. False with an
/// exception.
bool take_format(ModuleState& state, FrameHandle& frame, PyObject* video_info, PyObject* caps) {
  for (PyObject* told : {video_info, caps}) {
    if (told == nullptr || told == Py_None) continue;
    if (const GstVideoInfo* info = gst_video_info_of(told)) {
      frame.set_format(nullptr, info);
      return true;
    }
    GstCaps* told_caps = gst_caps_of(told);
    if (told_caps == nullptr) {
      PyErr_Format(PyExc_TypeError,
                   "VideoFrame takes a GstVideo.VideoInfo or Gst.Caps for the format, not %.100s",
                   Py_TYPE(told)->tp_name);
      return false;
    }
    if (told_caps != state.last_caps) {
      gst_caps_replace(&state.last_caps, told_caps);
      state.is_last_video = gst_video_info_from_caps(&state.last_info, told_caps);
    }
    frame.set_format(told_caps, state.is_last_video ? &state.last_info : nullptr);
    return true;
  }
  if (frame.info() != nullptr) return true;
  GstVideoInfo info;
  const GstVideoMeta* meta = gst_buffer_get_video_meta(frame.buffer());
  if (meta != nullptr && gst_video_info_set_format(&info, meta->format, meta->width, meta->height))
    frame.set_format(nullptr, &info);
  return true;
}

PyObject* create(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"buffer", "video_info", "caps", nullptr};
  PyObject* buffer_object = nullptr;
  PyObject* video_info = nullptr;
  PyObject* caps = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "O|OO:VideoFrame",
                                   const_cast<char**>(names), &buffer_object, &video_info, &caps))
    return nullptr;
  GstBuffer* buffer = gst_buffer_of(buffer_object);
  if (buffer == nullptr || !load_frame_access()) return nullptr;
  ModuleState& state = state_of(type);
  std::shared_ptr<FrameHandle> frame = FrameHandle::wrapped(state.frames, buffer, buffer_object);
  if (!take_format(state, *frame, video_info, caps)) return nullptr;
  return new_frame(type, std::move(frame));
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  as_frame(self).frame.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

/// A list of what `append(region, list)` adds for each region of the frame, or for each of the
/// whole picture; it returns false with an exception.
template <class Append>
PyObject* list_of_regions(PyObject* self, bool of_whole_picture, Append append) {
  const ModuleState& state = state_of(Py_TYPE(self));
  const std::shared_ptr<FrameHandle>& frame = as_frame(self).frame;
  Owned list(PyList_New(0));
  const std::vector<gst::RegionMeta> metas = frame_access().regions(frame->buffer());
  for (size_t i = 0; list && i < metas.size(); ++i) {
    const Owned region(new_region(state, frame, metas[i], i));
    if (!region) return nullptr;
    if (as_region(region.get()).content.is_whole_picture != of_whole_picture) continue;
    if (!append(region.get(), list.get())) return nullptr;
  }
  return list.release();
}

PyObject* regions(PyObject* self, PyObject*) {
  return list_of_regions(self, false, [](PyObject* region, PyObject* list) {
    return PyList_Append(list, region) == 0;
  });
}

PyObject* tensors(PyObject* self, PyObject*) {
  return list_of_regions(self, true, [&](PyObject* region, PyObject* list) {
    return append_tensors(state_of(Py_TYPE(self)), as_region(region), list);
  });
}

PyObject* add_tensor(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {"tensor", nullptr};
  PyObject* tensor = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "|O:add_tensor", const_cast<char**>(names),
                                   &tensor))
    return nullptr;
  const ModuleState& state = state_of(Py_TYPE(self));
  const std::shared_ptr<FrameHandle>& frame = as_frame(self).frame;
  const GstVideoInfo* info = known_info(*frame);
  if (info == nullptr || !frame->check_writable()) return nullptr;
  GstStructure* params = new_params(state, tensor);
  if (params == nullptr) return nullptr;
  std::vector<gst::RegionMeta> metas = frame_access().regions(frame->buffer());
  size_t index = 0;
  while (index < metas.size() && !frame_access().content(metas[index]).is_whole_picture) ++index;
  if (index == metas.size())
    metas.push_back(frame_access().add_whole_picture(frame->buffer(), GST_VIDEO_INFO_WIDTH(info),
                                                     GST_VIDEO_INFO_HEIGHT(info)));
  const Owned region(new_region(state, frame, metas[index], index));
  if (!region) {
    gst_structure_free(params);
    return nullptr;
  }
  return add_params(state, as_region(region.get()), params);
}

struct Box {
  double x, y, w, h;
};

/// What of the box lies inside the picture. False with an exception, also where a warning is one.
bool clip(const GstVideoInfo& info, Box& box) {
  if (!std::isfinite(box.x) || !std::isfinite(box.y) || !std::isfinite(box.w) ||
      !std::isfinite(box.h)) {
    PyErr_SetString(PyExc_ValueError, "a region's place must be finite numbers");
    return false;
  }
  const double width = GST_VIDEO_INFO_WIDTH(&info);
  const double height = GST_VIDEO_INFO_HEIGHT(&info);
  Box inside;
  inside.x = std::clamp(box.x, 0.0, width);
  inside.y = std::clamp(box.y, 0.0, height);
  inside.w = std::clamp(box.x + box.w, inside.x, width) - inside.x;
  inside.h = std::clamp(box.y + box.h, inside.y, height) - inside.y;
  const auto text = [](const Box& b) {
    return "[" + std::to_string(b.x) + ", " + std::to_string(b.y) + ", " + std::to_string(b.w) +
           ", " + std::to_string(b.h) + "]";
  };
  if (inside.w <= 0.0 || inside.h <= 0.0) {
    PyErr_Format(PyExc_ValueError,
                 "the region [x, y, w, h] = %s has no part inside the picture of %dx%d pixels",
                 text(box).c_str(), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info));
    return false;
  }
  const bool is_inside =
      inside.x == box.x && inside.y == box.y && box.x + box.w <= width && box.y + box.h <= height;
  if (!is_inside &&
      PyErr_WarnFormat(PyExc_UserWarning, 1,
                       "the region [x, y, w, h] leaves the picture and is clipped: %s -> %s",
                       text(box).c_str(), text(inside).c_str()) != 0)
    return false;
  box = inside;
  return true;
}

/// At least one pixel.
Rect whole_pixels(const GstVideoInfo& info, const Box& box) {
  const auto span = [](double low, double high, int limit, int& start, int& count) {
    start = std::clamp(static_cast<int>(std::lround(low)), 0, limit - 1);
    count = std::clamp(static_cast<int>(std::lround(high)), start + 1, limit) - start;
  };
  Rect rect;
  span(box.x, box.x + box.w, GST_VIDEO_INFO_WIDTH(&info), rect.x, rect.width);
  span(box.y, box.y + box.h, GST_VIDEO_INFO_HEIGHT(&info), rect.y, rect.height);
  return rect;
}

/// Everything of an argument as JSON; empty where there is none. False with an exception.
bool json_of(PyObject* object, std::string& json) {
  if (object == nullptr || object == Py_None) return true;
  const Owned module(PyImport_ImportModule("json"));
  const Owned text(module ? PyObject_CallMethod(module.get(), "dumps", "O", object) : nullptr);
  const char* utf8 = text ? utf8_of(text.get(), "JSON") : nullptr;
  if (utf8 != nullptr) json = utf8;
  return utf8 != nullptr;
}

PyObject* add_region(PyObject* self, PyObject* arguments, PyObject* keywords) {
  static const char* const names[] = {
      "x", "y", "w", "h", "label", "confidence", "normalized", "extra_params", "parent", nullptr};
  Box box = {};
  const char* label = nullptr;
  double confidence = 0.0;
  int normalized = 0;
  PyObject* extra_params = nullptr;
  PyObject* parent = nullptr;
  if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "dddd|zdpOO:add_region",
                                   const_cast<char**>(names), &box.x, &box.y, &box.w, &box.h,
                                   &label, &confidence, &normalized, &extra_params, &parent))
    return nullptr;
  const ModuleState& state = state_of(Py_TYPE(self));
  const std::shared_ptr<FrameHandle>& frame = as_frame(self).frame;
  const GstVideoInfo* info = known_info(*frame);
  if (info == nullptr || !frame->check_writable()) return nullptr;
  const double width = GST_VIDEO_INFO_WIDTH(info);
  const double height = GST_VIDEO_INFO_HEIGHT(info);
  if (normalized != 0) box = {box.x * width, box.y * height, box.w * width, box.h * height};
  std::string json;
  if (!clip(*info, box) || !json_of(extra_params, json)) return nullptr;
  if (parent == Py_None) parent = nullptr;
  if (parent != nullptr &&
      (!PyObject_TypeCheck(parent, state.region_type) || as_region(parent).frame != frame)) {
    PyErr_SetString(PyExc_TypeError, "parent must be a RegionOfInterest of this frame");
    return nullptr;
  }
  if (parent != nullptr && !check_there(as_region(parent))) return nullptr;
  GstStructure* detection = gst_structure_new(
      "detection", "confidence", G_TYPE_DOUBLE, confidence, "x_min", G_TYPE_DOUBLE, box.x / width,
      "x_max", G_TYPE_DOUBLE, (box.x + box.w) / width, "y_min", G_TYPE_DOUBLE, box.y / height,
      "y_max", G_TYPE_DOUBLE, (box.y + box.h) / height, nullptr);
  if (label != nullptr && *label != '\0')
    gst_structure_set(detection, "label", G_TYPE_STRING, label, nullptr);
  if (!json.empty())
    gst_structure_set(detection, "extra_params_json", G_TYPE_STRING, json.c_str(), nullptr);
  const size_t index = frame_access().regions(frame->buffer()).size();
  gst::RegionMeta meta =
      frame_access().add_region(frame->buffer(), whole_pixels(*info, box),
                                label != nullptr ? label : "", static_cast<float>(confidence));
  frame_access().add_params(meta, detection);
  if (parent != nullptr) frame_access().set_parent(frame->buffer(), meta, as_region(parent).meta);
  frame->refresh_regions();
  return new_region(state, frame, meta, index);
}

PyObject* remove_region(PyObject* self, PyObject* object) {
  const std::shared_ptr<FrameHandle>& frame = as_frame(self).frame;
  if (!PyObject_TypeCheck(object, state_of(Py_TYPE(self)).region_type)) {
    PyErr_Format(PyExc_TypeError, "remove_region() takes a RegionOfInterest, not %.100s",
                 Py_TYPE(object)->tp_name);
    return nullptr;
  }
  RegionObject& region = as_region(object);
  if (region.frame != frame) {
    PyErr_SetString(PyExc_RuntimeError, "this region is of another frame");
    return nullptr;
  }
  if (!check_there(region) || !frame->check_writable()) return nullptr;
  frame->remove_region(region);
  Py_RETURN_NONE;
}

PyObject* messages(PyObject* self, PyObject*) {
  Owned list(PyList_New(0));
  if (!list) return nullptr;
  for (const std::string& message : frame_access().messages(handle_of(self).buffer())) {
    const Owned text(new_text(message));
    if (!text || PyList_Append(list.get(), text.get()) != 0) return nullptr;
  }
  return list.release();
}

PyObject* add_message(PyObject* self, PyObject* text) {
  const char* message = utf8_of(text, "a message");
  if (message == nullptr || !handle_of(self).check_writable()) return nullptr;
  frame_access().add_message(handle_of(self).buffer(), message);
  Py_RETURN_NONE;
}

PyObject* remove_message(PyObject* self, PyObject* text) {
  const char* message = utf8_of(text, "a message");
  if (message == nullptr || !handle_of(self).check_writable()) return nullptr;
  if (frame_access().remove_message(handle_of(self).buffer(), message)) Py_RETURN_NONE;
  PyErr_SetString(PyExc_RuntimeError, "the frame has no such message");
  return nullptr;
}

PyObject* map(PyObject* self, PyObject* writable) {
  const int may_write = PyObject_IsTrue(writable);
  if (may_write < 0 || known_info(handle_of(self)) == nullptr) return nullptr;
  return map_pixels(state_of(Py_TYPE(self)), as_frame(self).frame, may_write != 0);
}

PyObject* buffer(PyObject* self, void*) {
  return handle_of(self).new_buffer_object();
}

PyObject* caps(PyObject* self, void*) {
  GstCaps* caps = handle_of(self).caps();
  return caps != nullptr ? new_gst_caps(caps) : new_none();
}

PyObject* gi_info(PyObject* self, PyObject*) {
  const GstVideoInfo* info = handle_of(self).info();
  return info != nullptr ? new_gst_video_info(*info) : new_none();
}

PyObject* width(PyObject* self, void*) {
  const GstVideoInfo* info = handle_of(self).info();
  return info != nullptr ? PyLong_FromLong(GST_VIDEO_INFO_WIDTH(info)) : new_none();
}

PyObject* height(PyObject* self, void*) {
  const GstVideoInfo* info = handle_of(self).info();
  return info != nullptr ? PyLong_FromLong(GST_VIDEO_INFO_HEIGHT(info)) : new_none();
}

PyObject* format(PyObject* self, void*) {
  const GstVideoInfo* info = handle_of(self).info();
  return info != nullptr ? new_text(GST_VIDEO_INFO_NAME(info)) : new_none();
}

PyObject* pts(PyObject* self, void*) {
  const GstClockTime time = GST_BUFFER_PTS(handle_of(self).buffer());
  return GST_CLOCK_TIME_IS_VALID(time) ? PyLong_FromUnsignedLongLong(time) : new_none();
}

PyMethodDef methods[] = {
    {"regions", regions, METH_NOARGS,
     "regions() -> list of RegionOfInterest\n\nAll objects and other regions of the frame, in the "
     "order in which they were attached, read in one call."},
    {"tensors", tensors, METH_NOARGS,
     "tensors() -> list of Tensor\n\nWhat is known about the whole picture."},
    {"messages", messages, METH_NOARGS,
     "messages() -> list of str\n\nThe JSON of heterometaconvert, and what add_message() added."},
    {"add_region", with_keywords(add_region), METH_VARARGS | METH_KEYWORDS,
     "add_region(x, y, w, h, label='', confidence=0.0, normalized=False, extra_params=None, "
     "parent=None) -> RegionOfInterest\n\nAdds an object. Its place is in pixels, or in parts of "
     "the picture (0..1) where it is normalized; what leaves the picture is clipped, with a "
     "warning; ValueError where nothing is left. extra_params go as JSON into the field "
     "extra_params_json of the detection."},
    {"remove_region", remove_region, METH_O,
     "remove_region(region)\n\nTakes an object off the frame with all that belongs to it alone. "
     "The region_id() of others may change."},
    {"add_tensor", with_keywords(add_tensor), METH_VARARGS | METH_KEYWORDS,
     "add_tensor(tensor='tensor') -> Tensor\n\nAdds a copy of a Tensor, or an empty one of this "
     "name, about the whole picture, and gives the one in the frame."},
    {"add_message", add_message, METH_O,
     "add_message(message)\n\nAdds a text that heterometapublish sends with the frame."},
    {"remove_message", remove_message, METH_O,
     "remove_message(message)\n\nRemoves the first message with this text; RuntimeError where "
     "there is none."},
    {"_map", map, METH_O, "The pixels; the argument says whether they may be written."},
    {"_gi_info", gi_info, METH_NOARGS, "The format as GstVideo.VideoInfo; None where unknown."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
    {"buffer", buffer, nullptr, "The Gst.Buffer.", nullptr},
    {"caps", caps, nullptr, "The Gst.Caps; None where they were not told.", nullptr},
    {"width", width, nullptr, "Pixels; None where the format is not known.", nullptr},
    {"height", height, nullptr, "Pixels; None where the format is not known.", nullptr},
    {"format", format, nullptr, "'NV12', 'BGRx' ...; None where it is not known.", nullptr},
    {"pts", pts, nullptr, "The presentation timestamp in nanoseconds, or None.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot slots[] = {{Py_tp_doc, const_cast<char*>("See hetero.gst.VideoFrame.")},
                       {Py_tp_new, reinterpret_cast<void*>(create)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                       {0, nullptr}};

}  // namespace

PyType_Spec frame_spec = {"hetero.gst._gst.VideoFrame", sizeof(FrameObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

PyObject* lend_frame(PyObject* module, GstBuffer* buffer, GstCaps* caps, const GstVideoInfo* info) {
  if (!load_frame_access()) return nullptr;
  ModuleState& state = state_of(module);
  return new_frame(state.frame_class, FrameHandle::lent(state.frames, buffer, caps, info));
}

bool end_frame(PyObject* frame) {
  const std::weak_ptr<FrameHandle> handle = as_frame(frame).frame;
  Py_DECREF(frame);
  const std::shared_ptr<FrameHandle> kept = handle.lock();
  return kept == nullptr || kept->end_loan();
}

}  // namespace het::python
