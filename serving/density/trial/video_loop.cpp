#include "serving/density/trial/video_loop.h"

#include <algorithm>
#include <utility>

namespace het::density {
namespace {

/// For the pad's thread has to come back from the end first.
struct Seek {
  GstPad* pad;  ///< owned
  VideoLoop::Fail fail;
};

bool seek_to_begin(GstPad* pad, GstFormat format) {
  GstEvent* seek = gst_event_new_seek(1.0, format, GST_SEEK_FLAG_FLUSH, GST_SEEK_TYPE_SET, 0,
                                      GST_SEEK_TYPE_NONE, -1);
  return GST_PAD_IS_SRC(pad) ? gst_pad_send_event(pad, seek) : gst_pad_push_event(pad, seek);
}

void do_seek(GstElement*, gpointer user) {
  const auto& seek = *static_cast<Seek*>(user);
  if (seek_to_begin(seek.pad, GST_FORMAT_TIME) || seek_to_begin(seek.pad, GST_FORMAT_BYTES)) return;
  seek.fail(
      "its video ends before the measurement and its source cannot be sought to its begin; give a "
      "file, a longer video, or fewer --seconds");
}

void drop_seek(gpointer user) {
  auto* seek = static_cast<Seek*>(user);
  gst_object_unref(seek->pad);
  delete seek;
}

}  // namespace

void VideoLoop::note_frame(GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  ++frames_;
  if (!has_segment_ || !GST_BUFFER_PTS_IS_VALID(buffer)) return;
  const GstClockTime time =
      gst_segment_to_running_time(&segment_, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer));
  if (!GST_CLOCK_TIME_IS_VALID(time)) return;
  const GstClockTime duration =
      GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : 0;
  running_end_ = std::max(running_end_, time + duration);
}

GstEvent* VideoLoop::take_segment(GstEvent* event) {
  const std::lock_guard lock(mutex_);
  is_beginning_ = false;
  gst_event_copy_segment(event, &segment_);
  has_segment_ = segment_.format == GST_FORMAT_TIME;
  if (loops_ == 0 || !has_segment_) return event;
  segment_.base = running_end_;
  GstEvent* changed = gst_event_new_segment(&segment_);
  gst_event_set_seqnum(changed, gst_event_get_seqnum(event));
  gst_event_unref(event);
  return changed;
}

bool VideoLoop::begin_anew(GstPad* pad, Fail fail) {
  {
    const std::lock_guard lock(mutex_);
    if (is_stopped_) return false;
    if (frames_ == 0) {
      fail("its video ends at once when it begins anew; give a longer video, or fewer --seconds");
      return false;
    }
    frames_ = 0;
    ++loops_;
    is_beginning_ = true;
  }
  GstElement* element = gst_pad_get_parent_element(pad);
  if (!element) return false;
  gst_element_call_async(element, do_seek, new Seek{GST_PAD(gst_object_ref(pad)), std::move(fail)},
                         drop_seek);
  gst_object_unref(element);
  return true;
}

bool VideoLoop::is_beginning() const {
  const std::lock_guard lock(mutex_);
  return is_beginning_;
}

size_t VideoLoop::loops() const {
  const std::lock_guard lock(mutex_);
  return loops_;
}

void VideoLoop::stop() {
  const std::lock_guard lock(mutex_);
  is_stopped_ = true;
}

}  // namespace het::density
