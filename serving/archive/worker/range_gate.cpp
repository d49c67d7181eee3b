#include "serving/archive/worker/range_gate.h"

#include <atomic>

#include "serving/launch/instance/decoder_threads.h"

namespace het::archive {
namespace {

/// Decoders clip frames at the begin of a segment: of the frame before a rounded duration leaves
/// this much at most.
constexpr GstClockTime kRounding = GST_USECOND;
/// Frames that are shown before the end may be stored behind it; what follows is read no further.
constexpr GstClockTime kStoredBehind = 10 * GST_SECOND;

}  // namespace

struct RangeGate::State {
  uint64_t from_ns = 0;
  std::optional<uint64_t> stop_ns;
  std::atomic<bool> has_decoder = false;
  std::atomic<bool> is_seek_sent = false;

  /// Of one decoder; its pad's streaming thread and events have it one after the other.
  struct Decoder {
    std::shared_ptr<State> state;
    std::atomic<bool> is_open;
    std::atomic<bool> is_over = false;
  };

  static void seek(GstElement* decoder, gpointer user) {
    const auto& state = *static_cast<std::shared_ptr<State>*>(user);
    const auto flags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE);
    const auto stop = state->stop_ns ? static_cast<gint64>(*state->stop_ns + kStoredBehind) : -1;
    GstEvent* const event = gst_event_new_seek(
        1.0, GST_FORMAT_TIME, flags, GST_SEEK_TYPE_SET, static_cast<gint64>(state->from_ns),
        stop < 0 ? GST_SEEK_TYPE_NONE : GST_SEEK_TYPE_SET, stop);
    if (gst_element_send_event(decoder, event)) return;
    GST_ELEMENT_ERROR(decoder, STREAM, DEMUX,
                      ("this video cannot be sought to a range; make it a whole shard "
                       "(--shard whole)"),
                      ("seek to %" GST_TIME_FORMAT, GST_TIME_ARGS(state->from_ns)));
  }

  static void drop_state(gpointer user) { delete static_cast<std::shared_ptr<State>*>(user); }

  static GstPadProbeReturn take(GstPad* pad, GstPadProbeInfo* content, gpointer user) {
    auto& decoder = *static_cast<Decoder*>(user);
    const GstPadProbeType type = GST_PAD_PROBE_INFO_TYPE(content);
    if (type & GST_PAD_PROBE_TYPE_BUFFER) {
      return take_frame(pad, GST_PAD_PROBE_INFO_BUFFER(content), decoder);
    }
    GstEvent* const event = GST_PAD_PROBE_INFO_EVENT(content);
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP && decoder.state->is_seek_sent) {
      decoder.is_open = true;
    }
    // The end of a video that is shorter than the time that a seek takes.
    const bool is_early_end =
        GST_EVENT_TYPE(event) == GST_EVENT_EOS && !decoder.is_open && decoder.state->is_seek_sent;
    return is_early_end ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
  }

  static GstPadProbeReturn take_frame(GstPad* pad, GstBuffer* buffer, Decoder& decoder) {
    State& state = *decoder.state;
    if (!decoder.is_open) {
      if (!state.is_seek_sent.exchange(true)) {
        GstElement* const element = gst_pad_get_parent_element(pad);
        gst_element_call_async(element, seek, new std::shared_ptr<State>(decoder.state),
                               drop_state);
        gst_object_unref(element);
      }
      return GST_PAD_PROBE_DROP;
    }
    if (decoder.is_over) return GST_PAD_PROBE_DROP;
    const GstClockTime time = stream_time(pad, buffer);
    if (!GST_CLOCK_TIME_IS_VALID(time)) return GST_PAD_PROBE_OK;
    const bool is_rest = time == state.from_ns && state.from_ns > 0 &&
                         GST_BUFFER_DURATION_IS_VALID(buffer) &&
                         GST_BUFFER_DURATION(buffer) < kRounding;
    if (time < state.from_ns || is_rest) return GST_PAD_PROBE_DROP;
    if (state.stop_ns && time >= *state.stop_ns) {
      decoder.is_over = true;
      gst_pad_push_event(pad, gst_event_new_eos());
      return GST_PAD_PROBE_DROP;
    }
    return GST_PAD_PROBE_OK;
  }

  static GstClockTime stream_time(GstPad* pad, GstBuffer* buffer) {
    GstEvent* const event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
    if (!event) return GST_CLOCK_TIME_NONE;
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    const GstClockTime time =
        segment->format == GST_FORMAT_TIME && GST_BUFFER_PTS_IS_VALID(buffer)
            ? gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
            : GST_CLOCK_TIME_NONE;
    gst_event_unref(event);
    return time;
  }

  static void drop(gpointer user) { delete static_cast<Decoder*>(user); }
};

RangeGate::RangeGate(uint64_t from_ns, std::optional<uint64_t> stop_ns)
    : state_(std::make_shared<State>()) {
  state_->from_ns = from_ns;
  state_->stop_ns = stop_ns;
}

bool RangeGate::has_decoder() const {
  return state_->has_decoder;
}

void RangeGate::watch(GstElement* element) {
  if (GST_IS_BIN(element) || !serving::is_video_decoder(element)) return;
  const auto add = [](GstElement*, GstPad* pad, gpointer user) -> gboolean {
    const auto& state = *static_cast<std::shared_ptr<State>*>(user);
    state->has_decoder = true;
    auto* const decoder = new State::Decoder{state, {state->from_ns == 0}};
    const auto kinds = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER |
                                                    GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                    GST_PAD_PROBE_TYPE_EVENT_FLUSH);
    gst_pad_add_probe(pad, kinds, State::take, decoder, State::drop);
    return TRUE;
  };
  gst_element_foreach_src_pad(element, add, &state_);
}

}  // namespace het::archive
