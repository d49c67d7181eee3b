#include "frame_handle.h"

#include <algorithm>

#include "gi_objects.h"
#include "plugin_table.h"
#include "region_class.h"

namespace het::python {

FrameHandle::FrameHandle(std::shared_ptr<FrameTable> table, GstBuffer* buffer)
    : table_(std::move(table)), buffer_(buffer) {}

std::shared_ptr<FrameHandle> FrameHandle::lent(std::shared_ptr<FrameTable> table, GstBuffer* buffer,
                                               GstCaps* caps, const GstVideoInfo* info) {
  FrameTable& known = *table;
  std::shared_ptr<FrameHandle> frame(new FrameHandle(std::move(table), buffer));
  frame->set_format(caps, info);
  known[buffer] = frame;
  return frame;
}

std::shared_ptr<FrameHandle> FrameHandle::wrapped(const std::shared_ptr<FrameTable>& table,
                                                  GstBuffer* buffer, PyObject* wrapper) {
  const auto found = table->find(buffer);
  if (found != table->end()) {
    if (std::shared_ptr<FrameHandle> known = found->second.lock()) return known;
  }
  std::shared_ptr<FrameHandle> frame(new FrameHandle(table, buffer));
  frame->hold_ = Hold::Wrapped;
  frame->wrapper_ = Owned::copy(wrapper);
  (*table)[buffer] = frame;
  return frame;
}

FrameHandle::~FrameHandle() {
  const auto found = table_->find(buffer_);
  // Another handle may have come since, of a buffer in the same place.
  if (found != table_->end() && found->second.expired()) table_->erase(found);
  if (caps_ != nullptr) gst_caps_unref(caps_);
  if (hold_ == Hold::Lent) give_up_wrapper();
  if (hold_ == Hold::Owned) gst_buffer_unref(buffer_);
}

void FrameHandle::set_format(GstCaps* caps, const GstVideoInfo* info) {
  gst_caps_replace(&caps_, caps);
  // GStreamer describes compressed video, too.
  has_info_ = info != nullptr && GST_VIDEO_INFO_FORMAT(info) > GST_VIDEO_FORMAT_ENCODED;
  if (has_info_) info_ = *info;
}

PyObject* FrameHandle::new_buffer_object() {
  if (wrapper_) return Py_NewRef(wrapper_.get());
  if (hold_ == Hold::Owned) return new_gst_buffer(buffer_, true);
  wrapper_ = Owned(new_gst_buffer(buffer_, false));
  return Py_XNewRef(wrapper_.get());
}

bool FrameHandle::check_writable() const {
  if (gst_buffer_is_writable(buffer_)) return true;
  PyErr_Format(PyExc_RuntimeError,
               "this buffer is used in %d places, so that its metadata and pixels may not be "
               "changed; in a probe take it by 'with hetero.gst.GST_PAD_PROBE_INFO_BUFFER(info) as "
               "buffer:', in do_transform_ip() by 'with hetero.gst.TRANSFORM_IP_BUFFER(buffer):', "
               "elsewhere change a copy of it (buffer.copy_deep())",
               GST_MINI_OBJECT_REFCOUNT_VALUE(buffer_));
  return false;
}

bool FrameHandle::end_loan() {
  if (hold_ != Hold::Lent) return true;
  hold_ = Hold::Owned;
  gst_buffer_ref(buffer_);
  give_up_wrapper();
  if (written_mappings == 0) return true;
  PyErr_SetString(PyExc_RuntimeError,
                  "pixels that may be written were kept after the call; keep a copy of them "
                  "(array.copy()), as the frame goes on");
  return false;
}

void FrameHandle::give_up_wrapper() {
  // One that nobody has kept needs no reference.
  if (wrapper_ && Py_REFCNT(wrapper_.get()) > 1) give_reference(wrapper_.get());
  wrapper_ = Owned();
}

void FrameHandle::forget_region(RegionObject* region) {
  const auto place = std::find(regions_.rbegin(), regions_.rend(), region);
  if (place == regions_.rend()) return;
  *place = regions_.back();
  regions_.pop_back();
}

void FrameHandle::remove_region(RegionObject& removed) {
  const size_t index = removed.index;
  frame_access().remove_region(buffer_, removed.meta);
  for (RegionObject* region : regions_) {
    if (region->is_removed || region->index < index) continue;
    if (region->index == index) {
      region->is_removed = true;
    } else {
      --region->index;
    }
  }
  refresh_regions();
}

void FrameHandle::refresh_regions() {
  const std::vector<gst::RegionMeta> metas = frame_access().regions(buffer_);
  for (RegionObject* region : regions_) {
    if (region->index >= metas.size()) region->is_removed = true;
    if (region->is_removed) continue;
    region->meta = metas[region->index];
    region->content = frame_access().content(region->meta);
  }
}

}  // namespace het::python
