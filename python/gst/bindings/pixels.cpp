#include "pixels.h"

#include <new>

namespace het::python {
namespace {

/// A mapped frame, which its planes share.
class Mapping {
 public:
  Mapping(std::shared_ptr<FrameHandle> frame, bool writable)
      : frame_(std::move(frame)), writable_(writable) {
    if (writable_) ++frame_->written_mappings;
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (is_mapped_) gst_video_frame_unmap(&mapped_);
    if (writable_) --frame_->written_mappings;
  }
  /// Without the GIL. Without a reference of its own: the buffer stays writable, and the handle
  /// keeps it.
  bool map() {
    const auto flags = static_cast<GstMapFlags>((writable_ ? GST_MAP_READWRITE : GST_MAP_READ) |
                                                static_cast<int>(GST_VIDEO_FRAME_MAP_FLAG_NO_REF));
    is_mapped_ = gst_video_frame_map(&mapped_, frame_->info(), frame_->buffer(), flags) != FALSE;
    return is_mapped_;
  }
  const GstVideoFrame& mapped() const { return mapped_; }

 private:
  std::shared_ptr<FrameHandle> frame_;
  GstVideoFrame mapped_ = {};
  bool writable_;
  bool is_mapped_ = false;
};

struct PlaneObject {
  PyObject ob_base;
  std::shared_ptr<Mapping> mapping;
  void* first;
  bool is_readonly;
  bool is_wide;           ///< values of two bytes
  Py_ssize_t shape[3];    ///< rows, columns, values of a pixel
  Py_ssize_t strides[3];  ///< bytes
};

PlaneObject& as_plane(PyObject* object) {
  return *reinterpret_cast<PlaneObject*>(object);
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  PlaneObject& plane = as_plane(self);
  if ((flags & PyBUF_WRITABLE) != 0 && plane.is_readonly) {
    PyErr_SetString(PyExc_BufferError, "these pixels were mapped for reading");
    return -1;
  }
  if ((flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
    PyErr_SetString(PyExc_BufferError, "pixels have strides");
    return -1;
  }
  const Py_ssize_t item = plane.is_wide ? 2 : 1;
  view->obj = Py_NewRef(self);
  view->buf = plane.first;
  view->len = plane.shape[0] * plane.shape[1] * plane.shape[2] * item;
  view->itemsize = item;
  view->readonly = plane.is_readonly ? 1 : 0;
  view->ndim = 3;
  view->format =
      (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(plane.is_wide ? "H" : "B") : nullptr;
  view->shape = plane.shape;
  view->strides = plane.strides;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

void dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  as_plane(self).mapping.~shared_ptr();
  type->tp_free(self);
  Py_DECREF(type);
}

PyType_Slot plane_slots[] = {
    {Py_tp_doc, const_cast<char*>("Pixels of one plane, for numpy.asarray() and memoryview().")},
    {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
    {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
    {0, nullptr}};

/// The part of a frame that is to be seen.
Rect visible_part(GstBuffer* buffer, const GstVideoInfo& info) {
  const auto* crop = gst_buffer_get_video_crop_meta(buffer);
  Rect rect{0, 0, GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)};
  if (crop == nullptr) return rect;
  rect.x = static_cast<int>(std::min<guint>(crop->x, static_cast<guint>(rect.width)));
  rect.y = static_cast<int>(std::min<guint>(crop->y, static_cast<guint>(rect.height)));
  rect.width =
      static_cast<int>(std::min<guint>(crop->width, static_cast<guint>(rect.width - rect.x)));
  rect.height =
      static_cast<int>(std::min<guint>(crop->height, static_cast<guint>(rect.height - rect.y)));
  return rect;
}

/// The component of a plane that lies first in it.
int first_component(const GstVideoFormatInfo* format, guint plane) {
  int first = -1;
  for (guint i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS(format); ++i) {
    if (GST_VIDEO_FORMAT_INFO_PLANE(format, i) != plane) continue;
    if (first < 0 ||
        GST_VIDEO_FORMAT_INFO_POFFSET(format, i) < GST_VIDEO_FORMAT_INFO_POFFSET(format, first))
      first = static_cast<int>(i);
  }
  return first;
}

}  // namespace

PyType_Spec plane_spec = {"hetero.gst._gst.Plane", sizeof(PlaneObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, plane_slots};

PyObject* map_pixels(const ModuleState& state, const std::shared_ptr<FrameHandle>& frame,
                     bool writable) {
  if (writable && !frame->check_writable()) return nullptr;
  const auto mapping = std::make_shared<Mapping>(frame, writable);
  bool done = false;
  Py_BEGIN_ALLOW_THREADS;
  done = mapping->map();
  Py_END_ALLOW_THREADS;
  if (!done) {
    PyErr_Format(PyExc_RuntimeError,
                 "the frame (%s, %dx%d) cannot be mapped for %s: its memory is not for the "
                 "processor, or smaller than its format",
                 GST_VIDEO_INFO_NAME(frame->info()), GST_VIDEO_INFO_WIDTH(frame->info()),
                 GST_VIDEO_INFO_HEIGHT(frame->info()), writable ? "writing" : "reading");
    return nullptr;
  }
  const GstVideoInfo& info = mapping->mapped().info;
  const GstVideoFormatInfo* format = info.finfo;
  const guint count = GST_VIDEO_INFO_N_PLANES(&info);
  for (guint i = 0; i < count; ++i) {
    const int component = first_component(format, i);
    const bool is_plain = component >= 0 && GST_VIDEO_FORMAT_INFO_PSTRIDE(format, component) > 0 &&
                          !GST_VIDEO_FORMAT_INFO_IS_COMPLEX(format) &&
                          !GST_VIDEO_FORMAT_INFO_IS_TILED(format);
    if (is_plain) continue;
    PyErr_Format(PyExc_RuntimeError,
                 "pixels of the format %s are no arrays: put videoconvert before",
                 GST_VIDEO_INFO_NAME(&info));
    return nullptr;
  }
  const Rect part = visible_part(frame->buffer(), info);
  Owned planes(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (guint i = 0; planes && i < count; ++i) {
    PyObject* object = state.plane_type->tp_alloc(state.plane_type, 0);
    if (object == nullptr) return nullptr;
    PlaneObject& plane = as_plane(object);
    new (&plane.mapping) std::shared_ptr<Mapping>(mapping);
    PyTuple_SET_ITEM(planes.get(), static_cast<Py_ssize_t>(i), object);
    const int component = first_component(format, i);
    const auto c = static_cast<guint>(component);
    const int pixel = GST_VIDEO_FORMAT_INFO_PSTRIDE(format, c);
    plane.is_wide = GST_VIDEO_FORMAT_INFO_DEPTH(format, c) > 8;
    plane.is_readonly = !writable;
    const int stride = GST_VIDEO_FRAME_PLANE_STRIDE(&mapping->mapped(), i);
    const int item = plane.is_wide ? 2 : 1;
    plane.shape[0] = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(format, c, part.height);
    plane.shape[1] = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(format, c, part.width);
    plane.shape[2] = pixel / item;
    plane.strides[0] = stride;
    plane.strides[1] = pixel;
    plane.strides[2] = item;
    plane.first = static_cast<guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&mapping->mapped(), i)) +
                  (part.y >> GST_VIDEO_FORMAT_INFO_H_SUB(format, c)) * stride +
                  (part.x >> GST_VIDEO_FORMAT_INFO_W_SUB(format, c)) * pixel;
  }
  return planes.release();
}

}  // namespace het::python
