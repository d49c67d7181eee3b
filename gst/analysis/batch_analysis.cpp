#include "batch_analysis.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gst/frames/frame_map.h"
#include "gst/metadata/analysis_mark.h"
#include "gst/metadata/batch_caps.h"
#include "gst/metadata/tensor_caps.h"

namespace het::gst {
namespace {

GstStaticCaps batch_frame_caps = GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(HET_GST_VIDEO_FORMATS));

bool is_readable(const GstCaps* caps, GstVideoInfo* info) {
  GstCaps* readable = gst_static_caps_get(&batch_frame_caps);
  const bool fits = gst_caps_can_intersect(caps, readable) && read_video_info(caps, info);
  gst_caps_unref(readable);
  return fits;
}

std::string caps_text(const GstCaps* caps) {
  gchar* text = gst_caps_to_string(caps);
  std::string result = text;
  g_free(text);
  return result;
}

std::string stream_id(GstEvent* stream_start) {
  const gchar* id = nullptr;
  gst_event_parse_stream_start(stream_start, &id);
  return id;
}

bool is_same_segment(GstEvent* one, GstEvent* other) {
  const GstSegment* segment = nullptr;
  const GstSegment* other_segment = nullptr;
  gst_event_parse_segment(one, &segment);
  gst_event_parse_segment(other, &other_segment);
  return gst_segment_is_equal(segment, other_segment);
}

/// What was known before: the event, or one that says the same.
bool is_repeated(GstEvent* event, GstEvent* last) {
  if (event == last || last == nullptr) return event == last;
  return GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT ? is_same_segment(event, last)
                                                    : stream_id(event) == stream_id(last);
}

}  // namespace

Status BatchAnalysis::take_caps(const GstCaps* caps) {
  const std::vector<const GstCaps*> streams = stream_caps(caps);
  if (streams.empty()) {
    return error(StatusCode::InvalidArgument,
                 "the caps of batches do not say their streams: no field 'streams' in {}",
                 caps_text(caps));
  }
  streams_.resize(streams.size());
  for (size_t i = 0; i < streams.size(); ++i) {
    Stream& stream = streams_[i];
    if (stream.name.empty()) {
      stream.name = fmt::format("stream {} of the batches", i);
      gst_segment_init(&stream.segment, GST_FORMAT_UNDEFINED);
    }
    stream.has_caps = false;
    stream.caps.reset();
    stream.interval.restart();
    // What the combiner does not know yet comes later, with other caps.
    if (streams[i] != nullptr && !is_unknown_stream(streams[i]))
      HET_TRY(take_caps_of(stream, streams[i]));
  }
  return {};
}

Status BatchAnalysis::take_caps_of(Stream& stream, const GstCaps* caps) {
  if (!is_readable(caps, &stream.info)) {
    return error(StatusCode::InvalidArgument,
                 "{} is {}; all streams of a batch have to be raw video in system memory, of the "
                 "formats that the element takes: put videoconvert before analyticscombiner, or "
                 "leave that stream out",
                 stream.name, caps_text(caps));
  }
  stream.has_caps = true;
  return {};
}

GstClockTime BatchAnalysis::frame_distance() const {
  double frames_per_second = 0.0;
  for (const Stream& stream : streams_) {
    if (stream.has_caps && GST_VIDEO_INFO_FPS_N(&stream.info) > 0 &&
        GST_VIDEO_INFO_FPS_D(&stream.info) > 0)
      frames_per_second += static_cast<double>(GST_VIDEO_INFO_FPS_N(&stream.info)) /
                           GST_VIDEO_INFO_FPS_D(&stream.info);
  }
  return frames_per_second > 0.0
             ? static_cast<GstClockTime>(static_cast<double>(GST_SECOND) / frames_per_second)
             : 0;
}

bool BatchAnalysis::is_interlaced() const {
  return std::any_of(streams_.begin(), streams_.end(), [](const Stream& stream) {
    return stream.has_caps && GST_VIDEO_INFO_IS_INTERLACED(&stream.info);
  });
}

void BatchAnalysis::start_anew() {
  for (Stream& stream : streams_) stream.interval.restart();
}

Status BatchAnalysis::take(GstBuffer* buffer, FrameAnalysis& analysis, const FramePlan& plan,
                           guint interval, const TensorGroup* group) {
  HET_ASSIGN(const std::shared_ptr<FrameBatch> batch, FrameBatch::open(buffer, streams_.size()));
  FramePlan frame_plan = plan;
  for (size_t i = 0; i < streams_.size(); ++i) {
    for (const BatchObject& object : batch->objects(i)) {
      if (object.frame != nullptr) {
        HET_TRY(take_frame(i, batch, object.frame, analysis, frame_plan, interval));
      } else {
        HET_TRY(take_event(i, object, analysis, group));
      }
    }
  }
  analysis.queue().push_batch(batch);
  return {};
}

Status BatchAnalysis::take_event(size_t index, const BatchObject& object, FrameAnalysis& analysis,
                                 const TensorGroup* group) {
  Stream& stream = streams_[index];
  GstEvent* event = *object.event;
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS:
      return take_caps_event(stream, object.event, group);
    case GST_EVENT_STREAM_START:
      if (object.is_sticky && is_repeated(event, stream.stream_start.get())) return {};
      stream.stream_start.reset(gst_event_ref(event));
      stream.name = fmt::format("stream {} ('{}') of the batches", index, stream_id(event));
      analysis.forget_objects(index);
      break;
    case GST_EVENT_SEGMENT:
      if (object.is_sticky && is_repeated(event, stream.segment_event.get())) return {};
      stream.segment_event.reset(gst_event_ref(event));
      gst_event_copy_segment(event, &stream.segment);
      break;
    case GST_EVENT_FLUSH_STOP:
      analysis.restart_stream(index);
      break;
    default:
      return {};
  }
  // So nothing is carried into the next frame.
  stream.interval.restart();
  return {};
}

Status BatchAnalysis::take_caps_event(Stream& stream, GstEvent** place, const TensorGroup* group) {
  if (stream.caps.get() != *place) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(*place, &caps);
    GstVideoInfo before = stream.info;
    const bool had_caps = std::exchange(stream.has_caps, false);
    HET_TRY(take_caps_of(stream, caps));
    if (!had_caps || !gst_video_info_is_equal(&before, &stream.info)) stream.interval.restart();
    stream.caps.reset(gst_event_ref(*place));
    stream.told_caps.reset();
  }
  if (group == nullptr) return {};
  if (!stream.told_caps)
    stream.told_caps.reset(with_tensor_group(gst_event_ref(stream.caps.get()), *group));
  gst_event_replace(place, stream.told_caps.get());
  return {};
}

Status BatchAnalysis::take_frame(size_t index, const std::shared_ptr<FrameBatch>& batch,
                                 GstBuffer** place, FrameAnalysis& analysis, FramePlan& plan,
                                 guint interval) {
  Stream& stream = streams_[index];
  if (!stream.has_caps) {
    return error(StatusCode::InvalidArgument, "{} has a frame, and no caps before it", stream.name);
  }
  if (GST_BUFFER_IS_DISCONT(*place)) stream.interval.restart();
  plan.stream = index;
  plan.is_still = is_marked_still(*place);
  plan.analyse = stream.interval.is_due(interval, plan.is_still);
  stream.interval.pass(plan.analyse, interval);
  plan.running_time =
      stream.segment.format == GST_FORMAT_TIME
          ? gst_segment_to_running_time(&stream.segment, GST_FORMAT_TIME, GST_BUFFER_PTS(*place))
          : kNoFrameTime;
  return analysis.take(std::exchange(*place, nullptr), stream.info, plan, {batch, place});
}

}  // namespace het::gst
