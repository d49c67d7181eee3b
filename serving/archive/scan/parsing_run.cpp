#include "serving/archive/scan/parsing_run.h"

#include <fmt/format.h>
#include <gst/gst.h>

#include <atomic>
#include <mutex>
#include <string_view>

#include "serving/archive/scan/pipeline_end.h"
#include "serving/launch/instance/pipeline_elements.h"

namespace het::archive {
namespace {

constexpr int kMostTries = 4;

/// Frames that the frame header says are not shown: the decoder makes no picture of them.
bool is_hidden_vp8(GstBuffer* buffer) {
  guint8 first = 0;
  return gst_buffer_extract(buffer, 0, &first, 1) == 1 && (first & 0x10) == 0;
}

class ParsingRun {
 public:
  ParsingRun(const VideoPlace& video, VideoScan& scan) : video_(video), scan_(scan) {}
  ~ParsingRun() {
    if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  }
  ParsingRun(const ParsingRun&) = delete;
  ParsingRun& operator=(const ParsingRun&) = delete;

  Status run(const std::function<bool()>& is_stopped) {
    HET_TRY(make_pipeline());
    // What fails is on the bus.
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    HET_TRY(wait_for_end(
        pipeline_.get(), video_.name, [this] { return buffers_.load(); }, is_stopped));
    if (scan_.codec.empty()) {
      return error(StatusCode::ParseError, "there is no video in '{}'", video_.name);
    }
    if (scan_.frames == 0) {
      return error(StatusCode::ParseError, "the video in '{}' has no frames", video_.name);
    }
    return {};
  }

 private:
  Status make_pipeline() {
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
    GstElement* source = nullptr;
    GError* failure = nullptr;
    if (video_.path.empty()) {
      source = gst_element_make_from_uri(GST_URI_SRC, video_.uri.c_str(), nullptr, &failure);
    } else {
      source = gst_element_factory_make("filesrc", nullptr);
      if (source) g_object_set(source, "location", video_.path.c_str(), nullptr);
    }
    GstElement* const parser = gst_element_factory_make("parsebin", nullptr);
    if (source) gst_bin_add(GST_BIN(pipeline_.get()), source);
    if (parser) gst_bin_add(GST_BIN(pipeline_.get()), parser);
    const bool is_made = source && parser && gst_element_link(source, parser);
    const std::string reason = failure ? failure->message : "are GStreamer's plugins installed?";
    g_clear_error(&failure);
    if (!is_made) {
      return error(StatusCode::ParseError, "cannot read '{}': {}", video_.name, reason);
    }
    g_signal_connect(parser, "pad-added", G_CALLBACK(on_pad), this);
    return {};
  }

  static void on_pad(GstElement*, GstPad* pad, gpointer user) {
    static_cast<ParsingRun*>(user)->take_pad(pad);
  }

  /// All streams are read, so that a video without pictures ends like any other.
  void take_pad(GstPad* pad) {
    GstPad* const target = add_end(pipeline_.get());
    if (!target) return;
    take_video(pad);
    gst_pad_link(pad, target);
    gst_object_unref(target);
  }

  void take_video(GstPad* pad) {
    GstCaps* caps = gst_pad_get_current_caps(pad);
    if (!caps) caps = gst_pad_query_caps(pad, nullptr);
    const char* name = caps && !gst_caps_is_any(caps) && !gst_caps_is_empty(caps)
                           ? gst_structure_get_name(gst_caps_get_structure(caps, 0))
                           : "";
    const std::string_view kind = name;
    const std::lock_guard lock(mutex_);
    if (scan_.codec.empty() && (kind.starts_with("video/") || kind.starts_with("image/"))) {
      scan_.codec = name;
      gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, take_buffer, this, nullptr);
    }
    if (caps) gst_caps_unref(caps);
  }

  static GstPadProbeReturn take_buffer(GstPad* pad, GstPadProbeInfo* probe, gpointer user) {
    static_cast<ParsingRun*>(user)->take_frame(pad, GST_PAD_PROBE_INFO_BUFFER(probe));
    return GST_PAD_PROBE_OK;
  }

  void take_frame(GstPad* pad, GstBuffer* buffer) {
    buffers_.fetch_add(1);
    const bool is_header =
        GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_HEADER) && !GST_BUFFER_PTS_IS_VALID(buffer);
    if (is_header || GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DECODE_ONLY)) return;
    if (scan_.codec == "video/x-vp8" && is_hidden_vp8(buffer)) return;
    const GstClockTime begin = GST_BUFFER_PTS(buffer);
    if (!GST_CLOCK_TIME_IS_VALID(begin)) {
      ++scan_.frames;
      return;
    }
    GstEvent* const event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
    if (!event) return;
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    const GstClockTime length =
        GST_BUFFER_DURATION_IS_VALID(buffer) ? GST_BUFFER_DURATION(buffer) : 0;
    // As decoders clip: what lies outside is not shown.
    guint64 shown = begin;
    guint64 end = begin + length;
    if (gst_segment_clip(segment, GST_FORMAT_TIME, begin, begin + length, &shown, &end)) {
      add_frame(gst_segment_to_stream_time(segment, GST_FORMAT_TIME, shown), end - shown,
                !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DELTA_UNIT));
    }
    gst_event_unref(event);
  }

  void add_frame(GstClockTime time, GstClockTime length, bool is_key) {
    ++scan_.frames;
    if (!GST_CLOCK_TIME_IS_VALID(time)) return;
    scan_.timestamps.push_back(time);
    if (is_key) {
      scan_.key_frames.push_back(time);
    } else if (!scan_.key_frames.empty() && time < scan_.key_frames.back()) {
      // An open group: this frame is shown before its key frame and needs the group before, without
      // which decoders lose frames behind the key frame, too.
      scan_.key_frames.pop_back();
    }
    scan_.duration_ns = std::max<uint64_t>(scan_.duration_ns, time + length);
  }

  const VideoPlace& video_;
  VideoScan& scan_;
  serving::ElementRef pipeline_;
  std::mutex mutex_;  ///< protects the choice of the video stream; taken alone
  std::atomic<uint64_t> buffers_ = 0;
};

}  // namespace

Status parse_video(const VideoPlace& video, const std::function<bool()>& is_stopped,
                   VideoScan& scan) {
  // An error that GStreamer has lost it seldom loses twice.
  const VideoScan before = scan;
  Status status;
  for (int i = 0; i < kMostTries; ++i) {
    scan = before;
    status = ParsingRun(video, scan).run(is_stopped);
    if (status.code() != StatusCode::Internal) break;
  }
  return status;
}

}  // namespace het::archive
