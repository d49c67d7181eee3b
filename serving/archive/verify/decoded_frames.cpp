#include "serving/archive/verify/decoded_frames.h"

#include <gst/gst.h>

#include <atomic>
#include <mutex>

#include "serving/archive/scan/pipeline_end.h"
#include "serving/launch/instance/pipeline_elements.h"

namespace het::archive {
namespace {

class DecodingRun {
 public:
  explicit DecodingRun(const std::string& uri) : uri_(uri) {}
  ~DecodingRun() {
    if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  }
  DecodingRun(const DecodingRun&) = delete;
  DecodingRun& operator=(const DecodingRun&) = delete;

  Result<DecodedFrames> run(const std::function<bool()>& is_stopped) {
    GstElement* const decoder = gst_element_factory_make("uridecodebin", nullptr);
    if (!decoder) {
      return error(StatusCode::NotFound,
                   "cannot decode '{}': uridecodebin is missing; install GStreamer's base plugins",
                   uri_);
    }
    pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
    g_object_set(decoder, "uri", uri_.c_str(), nullptr);
    gst_bin_add(GST_BIN(pipeline_.get()), decoder);
    g_signal_connect(decoder, "pad-added", G_CALLBACK(on_pad), this);
    // What fails is on the bus.
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    // Its streaming threads are gone behind this, so that the frames are the caller's alone.
    HET_TRY(wait_for_end(
        pipeline_.get(), uri_, [this] { return buffers_.load(); }, is_stopped));
    return std::move(frames_);
  }

 private:
  static void on_pad(GstElement*, GstPad* pad, gpointer user) {
    static_cast<DecodingRun*>(user)->take_pad(pad);
  }

  void take_pad(GstPad* pad) {
    GstPad* const target = add_end(pipeline_.get());
    if (!target) return;
    GstCaps* const caps = gst_pad_query_caps(pad, nullptr);
    const bool is_video = caps && !gst_caps_is_any(caps) && !gst_caps_is_empty(caps) &&
                          gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-raw");
    if (caps) gst_caps_unref(caps);
    {
      const std::lock_guard lock(mutex_);
      if (is_video && !has_video_) {
        has_video_ = true;
        gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, take_buffer, this, nullptr);
      }
    }
    gst_pad_link(pad, target);
    gst_object_unref(target);
  }

  static GstPadProbeReturn take_buffer(GstPad* pad, GstPadProbeInfo* probe, gpointer user) {
    auto* const self = static_cast<DecodingRun*>(user);
    self->buffers_.fetch_add(1);
    const GstClockTime time = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(probe));
    guint64 stream_time = GST_CLOCK_TIME_NONE;
    if (GstEvent* const event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0)) {
      const GstSegment* segment = nullptr;
      gst_event_parse_segment(event, &segment);
      stream_time = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, time);
      gst_event_unref(event);
    }
    if (GST_CLOCK_TIME_IS_VALID(stream_time)) {
      self->frames_.times_ns.push_back(stream_time);
    } else {
      ++self->frames_.untimed;
    }
    return GST_PAD_PROBE_OK;
  }

  const std::string& uri_;
  DecodedFrames frames_;  ///< of the streaming thread while it runs
  serving::ElementRef pipeline_;
  std::mutex mutex_;  ///< protects has_video_; taken alone
  bool has_video_ = false;
  std::atomic<uint64_t> buffers_ = 0;
};

}  // namespace

Result<DecodedFrames> decode_frames(const std::string& uri,
                                    const std::function<bool()>& is_stopped) {
  return DecodingRun(uri).run(is_stopped);
}

}  // namespace het::archive
