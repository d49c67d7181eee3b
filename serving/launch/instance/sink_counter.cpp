#include "serving/launch/instance/sink_counter.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

namespace het::serving {
struct SinkCounter::State {
  /// One sink pad.
  struct SinkCount {
    std::atomic<uint64_t> buffers = 0;
    std::atomic<bool> is_sound = false;
  };

  GstElement* pipeline = nullptr;
  std::atomic<bool> has_played = false;
  std::mutex mutex;  ///< protects sinks; taken alone
  std::vector<std::shared_ptr<SinkCount>> sinks;

  /// What the probe of a pad holds.
  struct Probe {
    std::shared_ptr<State> state;
    std::shared_ptr<SinkCount> count;
  };

  static GstPadProbeReturn take(GstPad* pad, GstPadProbeInfo* content, gpointer user) {
    auto& probe = *static_cast<Probe*>(user);
    const bool is_list = GST_PAD_PROBE_INFO_TYPE(content) & GST_PAD_PROBE_TYPE_BUFFER_LIST;
    const uint64_t buffers =
        is_list ? gst_buffer_list_length(GST_PAD_PROBE_INFO_BUFFER_LIST(content)) : 1;
    if (probe.count->buffers.fetch_add(buffers) == 0) note_kind(pad, *probe.count);
    if (!probe.state->has_played.exchange(true)) {
      GstElement* pipeline = probe.state->pipeline;
      gst_element_post_message(
          pipeline,
          gst_message_new_application(GST_OBJECT(pipeline), gst_structure_new_empty(kFirstFrame)));
    }
    return GST_PAD_PROBE_OK;
  }

  static void note_kind(GstPad* pad, SinkCount& count) {
    GstCaps* caps = gst_pad_get_current_caps(pad);
    if (!caps) return;
    const char* name =
        gst_caps_is_any(caps) ? "" : gst_structure_get_name(gst_caps_get_structure(caps, 0));
    count.is_sound = g_str_has_prefix(name, "audio/");
    gst_caps_unref(caps);
  }

  static void drop(gpointer user) { delete static_cast<Probe*>(user); }
};

SinkCounter::SinkCounter(GstElement* pipeline) : state_(std::make_shared<State>()) {
  state_->pipeline = pipeline;
}

void SinkCounter::watch(GstElement* element) {
  if (GST_IS_BIN(element) || !GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK)) return;
  const auto add = [](GstElement*, GstPad* pad, gpointer user) -> gboolean {
    const auto& state = *static_cast<std::shared_ptr<State>*>(user);
    auto count = std::make_shared<State::SinkCount>();
    {
      std::lock_guard lock(state->mutex);
      state->sinks.push_back(count);
    }
    gst_pad_add_probe(
        pad,
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST),
        State::take, new State::Probe{state, std::move(count)}, State::drop);
    return TRUE;
  };
  gst_element_foreach_sink_pad(element, add, &state_);
}

uint64_t SinkCounter::frames() const {
  uint64_t most = 0;
  uint64_t most_sounds = 0;
  std::lock_guard lock(state_->mutex);
  for (const auto& sink : state_->sinks) {
    uint64_t& chosen = sink->is_sound ? most_sounds : most;
    chosen = std::max(chosen, sink->buffers.load());
  }
  return most > 0 ? most : most_sounds;
}

}  // namespace het::serving
