#include "serving/archive/worker/frame_times.h"

#include <mutex>

namespace het::archive {
struct FrameTimes::State {
  struct Sink {
    Frames frames;
    bool is_sound = false;
  };
  /// What the probe of a pad holds.
  struct Probe {
    std::shared_ptr<State> state;
    std::shared_ptr<Sink> sink;
  };

  std::mutex mutex;  ///< protects the sinks; taken alone
  std::vector<std::shared_ptr<Sink>> sinks;

  static gboolean take_one(GstBuffer** buffer, guint, gpointer user) {
    auto& [segment, sink] = *static_cast<std::pair<const GstSegment*, Sink*>*>(user);
    const GstClockTime time =
        segment && GST_BUFFER_PTS_IS_VALID(*buffer)
            ? gst_segment_to_stream_time(segment, GST_FORMAT_TIME, GST_BUFFER_PTS(*buffer))
            : GST_CLOCK_TIME_NONE;
    if (GST_CLOCK_TIME_IS_VALID(time)) {
      sink->frames.times_ns.push_back(time);
    } else {
      ++sink->frames.untimed;
    }
    return TRUE;
  }

  static GstPadProbeReturn take(GstPad* pad, GstPadProbeInfo* content, gpointer user) {
    auto& probe = *static_cast<Probe*>(user);
    const auto now = Clock::now();
    GstEvent* const event = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
    const GstSegment* segment = nullptr;
    if (event) gst_event_parse_segment(event, &segment);
    if (segment && segment->format != GST_FORMAT_TIME) segment = nullptr;
    {
      const std::lock_guard lock(probe.state->mutex);
      if (!probe.sink->frames.first) {
        probe.sink->frames.first = now;
        probe.sink->is_sound = has_sound(pad);
      }
      probe.sink->frames.last = now;
      std::pair<const GstSegment*, Sink*> place(segment, probe.sink.get());
      if (GST_PAD_PROBE_INFO_TYPE(content) & GST_PAD_PROBE_TYPE_BUFFER_LIST) {
        gst_buffer_list_foreach(GST_PAD_PROBE_INFO_BUFFER_LIST(content), take_one, &place);
      } else {
        GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(content);
        take_one(&buffer, 0, &place);
      }
    }
    if (event) gst_event_unref(event);
    return GST_PAD_PROBE_OK;
  }

  static bool has_sound(GstPad* pad) {
    GstCaps* const caps = gst_pad_get_current_caps(pad);
    if (!caps) return false;
    const bool is_sound =
        !gst_caps_is_any(caps) &&
        g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), "audio/");
    gst_caps_unref(caps);
    return is_sound;
  }

  static void drop(gpointer user) { delete static_cast<Probe*>(user); }
};

FrameTimes::FrameTimes() : state_(std::make_shared<State>()) {}

void FrameTimes::watch(GstElement* element) {
  if (GST_IS_BIN(element) || !GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK)) return;
  const auto add = [](GstElement*, GstPad* pad, gpointer user) -> gboolean {
    const auto& state = *static_cast<std::shared_ptr<State>*>(user);
    auto sink = std::make_shared<State::Sink>();
    {
      const std::lock_guard lock(state->mutex);
      state->sinks.push_back(sink);
    }
    gst_pad_add_probe(
        pad,
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST),
        State::take, new State::Probe{state, std::move(sink)}, State::drop);
    return TRUE;
  };
  gst_element_foreach_sink_pad(element, add, &state_);
}

FrameTimes::Frames FrameTimes::frames() const {
  const std::lock_guard lock(state_->mutex);
  const State::Sink* chosen = nullptr;
  const auto count = [](const State::Sink& sink) {
    return sink.frames.times_ns.size() + sink.frames.untimed;
  };
  for (const auto& sink : state_->sinks) {
    if (count(*sink) == 0) continue;
    const bool is_better = !chosen || (chosen->is_sound && !sink->is_sound) ||
                           (chosen->is_sound == sink->is_sound && count(*sink) > count(*chosen));
    if (is_better) chosen = sink.get();
  }
  return chosen ? chosen->frames : Frames{};
}

}  // namespace het::archive
