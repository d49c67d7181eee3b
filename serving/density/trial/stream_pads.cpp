#include "serving/density/trial/stream_pads.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "serving/density/trial/video_loop.h"
#include "serving/launch/instance/pipeline_elements.h"
#include "serving/launch/instance/process_time.h"

namespace het::density {

struct StreamPads::State {
  State(FrameTimes& frame_times, std::string sink_name)
      : times(frame_times), sink(std::move(sink_name)) {}

  FrameTimes& times;  ///< outlives the pipeline
  const std::string sink;
  VideoLoop loop;
  mutable std::mutex mutex;      ///< protects all below; taken alone
  GstPad* pacing_pad = nullptr;  ///< borrowed, as is sink_pad: compared only
  bool is_encoded = false;       ///< pacing_pad is a decoder's
  std::string pacing_place;
  GstPad* sink_pad = nullptr;
  std::string sink_place;
  std::string problem;

  void fail(std::string text) {
    const std::lock_guard lock(mutex);
    if (problem.empty()) problem = std::move(text);
  }
};

namespace {

using serving::factory_name;
using serving::has_class;
using serving::has_property;
using Note = std::function<void(std::string)>;

/// What the probe of a pad holds.
struct PadProbe {
  std::shared_ptr<StreamPads::State> state;
  bool is_encoded = false;
};

void drop_probe(gpointer user) {
  delete static_cast<PadProbe*>(user);
}

std::string pad_place(GstPad* pad) {
  GstElement* element = gst_pad_get_parent_element(pad);
  std::string place =
      fmt::format("{} {}", element ? GST_OBJECT_NAME(element) : "?", GST_OBJECT_NAME(pad));
  if (element) gst_object_unref(element);
  return place;
}

bool has_caps_of(GstPad* pad, const char* begin) {
  GstCaps* caps = gst_pad_get_current_caps(pad);
  if (!caps) return false;
  const bool is_so =
      !gst_caps_is_any(caps) && !gst_caps_is_empty(caps) &&
      g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), begin);
  gst_caps_unref(caps);
  return is_so;
}

std::optional<uint64_t> presentation_time(GstBuffer* buffer) {
  if (!GST_BUFFER_PTS_IS_VALID(buffer)) return std::nullopt;
  return GST_BUFFER_PTS(buffer);
}

/// True where frames wait at this pad: the first decoder's, or the source of raw video.
bool claim_pacing(GstPad* pad, const PadProbe& probe) {
  StreamPads::State& state = *probe.state;
  const std::lock_guard lock(state.mutex);
  if (state.pacing_pad == pad) return true;
  if (!state.pacing_pad) {
    state.pacing_pad = pad;
    state.is_encoded = probe.is_encoded;
    state.pacing_place = pad_place(pad);
    return true;
  }
  // A decoder behind the source of raw video belongs to its stream.
  if (state.is_encoded == probe.is_encoded && state.problem.empty()) {
    state.problem = fmt::format(
        "it has several sources of video: frames come through {} and {}; density measures "
        "pipelines with one, so give one pipeline a stream",
        state.pacing_place, pad_place(pad));
  }
  return false;
}

GstPadProbeReturn take_frame(GstPad* pad, GstPadProbeInfo* content, gpointer user) {
  const auto& probe = *static_cast<PadProbe*>(user);
  if (!probe.is_encoded && !has_caps_of(pad, "video/x-raw")) return GST_PAD_PROBE_OK;
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(content);
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_DECODE_ONLY)) return GST_PAD_PROBE_OK;
  if (!claim_pacing(pad, probe)) return GST_PAD_PROBE_OK;
  StreamPads::State& state = *probe.state;
  state.loop.note_frame(buffer);
  return state.times.wait_for_turn(presentation_time(buffer)) ? GST_PAD_PROBE_OK
                                                              : GST_PAD_PROBE_DROP;
}

GstPadProbeReturn take_event(GstPad* pad, GstPadProbeInfo* content, gpointer user) {
  const auto& probe = *static_cast<PadProbe*>(user);
  const std::shared_ptr<StreamPads::State>& state = probe.state;
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(content);
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    // The segment comes before the frame that claims the pad.
    {
      const std::lock_guard lock(state->mutex);
      if (state->pacing_pad && state->pacing_pad != pad) return GST_PAD_PROBE_OK;
      if (!state->pacing_pad && !probe.is_encoded && !has_caps_of(pad, "video/x-raw")) {
        return GST_PAD_PROBE_OK;
      }
    }
    GST_PAD_PROBE_INFO_DATA(content) = state->loop.take_segment(event);
    return GST_PAD_PROBE_OK;
  }
  {
    const std::lock_guard lock(state->mutex);
    if (state->pacing_pad != pad) return GST_PAD_PROBE_OK;
  }
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_EOS:
      return state->loop.begin_anew(pad,
                                    [state](std::string text) { state->fail(std::move(text)); })
                 ? GST_PAD_PROBE_DROP
                 : GST_PAD_PROBE_OK;
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
      // What is behind this pad goes on with the frames that it has.
      return state->loop.is_beginning() ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
    default:
      return GST_PAD_PROBE_OK;
  }
}

void add_pacing_probes(GstPad* pad, const std::shared_ptr<StreamPads::State>& state,
                       bool is_encoded) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, take_frame, new PadProbe{state, is_encoded},
                    drop_probe);
  gst_pad_add_probe(pad,
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                 GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                    take_event, new PadProbe{state, is_encoded}, drop_probe);
}

bool claim_sink(GstPad* pad, StreamPads::State& state) {
  const std::lock_guard lock(state.mutex);
  if (state.sink_pad == pad) return true;
  if (!state.sink_pad) {
    state.sink_pad = pad;
    state.sink_place = pad_place(pad);
    return true;
  }
  if (state.problem.empty()) {
    state.problem =
        fmt::format("frames reach several sinks ({} and {}); say by --sink NAME where they count",
                    state.sink_place, pad_place(pad));
  }
  return false;
}

GstPadProbeReturn take_arrival(GstPad* pad, GstPadProbeInfo* content, gpointer user) {
  const auto& probe = *static_cast<PadProbe*>(user);
  const double now_s = serving::wall_time_s();
  if (has_caps_of(pad, "audio/") || !claim_sink(pad, *probe.state)) return GST_PAD_PROBE_OK;
  FrameTimes& times = probe.state->times;
  if (!(GST_PAD_PROBE_INFO_TYPE(content) & GST_PAD_PROBE_TYPE_BUFFER_LIST)) {
    times.arrive(presentation_time(GST_PAD_PROBE_INFO_BUFFER(content)), now_s);
    return GST_PAD_PROBE_OK;
  }
  GstBufferList* list = GST_PAD_PROBE_INFO_BUFFER_LIST(content);
  for (guint i = 0; i < gst_buffer_list_length(list); ++i) {
    times.arrive(presentation_time(gst_buffer_list_get(list, i)), now_s);
  }
  return GST_PAD_PROBE_OK;
}

/// The element or a bin around it has the name.
bool is_named(GstElement* element, const std::string& name) {
  GstObject* object = GST_OBJECT(gst_object_ref(element));
  bool found = false;
  while (object && !found) {
    found = name == GST_OBJECT_NAME(object);
    GstObject* parent = gst_object_get_parent(object);
    gst_object_unref(object);
    object = parent;
  }
  if (object) gst_object_unref(object);
  return found;
}

using AddPad = void (*)(GstPad*, const std::shared_ptr<StreamPads::State>&);

void for_sink_pads(GstElement* element, const std::shared_ptr<StreamPads::State>& state,
                   AddPad add) {
  const auto call = std::pair(add, state);
  const auto take = [](GstElement*, GstPad* pad, gpointer user) -> gboolean {
    const auto& [add_pad, of_state] =
        *static_cast<std::pair<AddPad, std::shared_ptr<StreamPads::State>>*>(user);
    add_pad(pad, of_state);
    return TRUE;
  };
  gst_element_foreach_sink_pad(
      element, take, const_cast<std::pair<AddPad, std::shared_ptr<StreamPads::State>>*>(&call));
}

void watch_source_pads(GstElement* element, const std::shared_ptr<StreamPads::State>& state) {
  using Held = std::shared_ptr<StreamPads::State>;
  const auto add = [](GstElement*, GstPad* pad, gpointer user) -> gboolean {
    add_pacing_probes(pad, *static_cast<Held*>(user), false);
    return TRUE;
  };
  Held held = state;
  gst_element_foreach_src_pad(element, add, &held);
  const auto added = [](GstElement*, GstPad* pad, gpointer user) {
    if (GST_PAD_IS_SRC(pad)) add_pacing_probes(pad, *static_cast<Held*>(user), false);
  };
  const auto drop = [](gpointer user, GClosure*) { delete static_cast<Held*>(user); };
  g_signal_connect_data(element, "pad-added",
                        G_CALLBACK(static_cast<void (*)(GstElement*, GstPad*, gpointer)>(added)),
                        new Held(state), drop, GConnectFlags(0));
}

/// Copies of a pipeline number their elements on: what was named by nobody is told by its kind.
std::string told_name(GstElement* element) {
  const std::string name = GST_OBJECT_NAME(element);
  const std::string factory = factory_name(element);
  return name.starts_with(factory) ? factory : fmt::format("{} ({})", name, factory);
}

void set_off(GstElement* element, const char* property, const char* why, const Note& note) {
  if (!has_property(element, property)) return;
  gboolean value = FALSE;
  g_object_get(element, property, &value, nullptr);
  if (!value) return;
  g_object_set(element, property, FALSE, nullptr);
  note(fmt::format("{}: {}=false, {}", told_name(element), property, why));
}

void let_go_on(GstElement* element, const Note& note) {
  if (!has_property(element, "num-buffers")) return;
  gint buffers = -1;
  g_object_get(element, "num-buffers", &buffers, nullptr);
  if (buffers < 0) return;
  g_object_set(element, "num-buffers", -1, nullptr);
  note(fmt::format("{}: num-buffers=-1, so that it does not end", told_name(element)));
}

/// What decoders of FFmpeg hold back depends on whether their source is live; here it stands for
/// one.
void decode_as_live(GstElement* element, const Note& note) {
  if (serving::choice_property(element, "std-compliance") == "auto") {
    gst_util_set_object_arg(G_OBJECT(element), "std-compliance", "normal");
    note(fmt::format("{}: std-compliance=normal, as behind a live source", told_name(element)));
  }
  if (!has_property(element, "thread-type")) return;
  guint type = 1;
  g_object_get(element, "thread-type", &type, nullptr);
  if (type != 0) return;
  gst_util_set_object_arg(G_OBJECT(element), "thread-type", "slice");
  note(fmt::format("{}: thread-type=slice, as behind a live source", told_name(element)));
}

}  // namespace

StreamPads::StreamPads(FrameTimes& times, std::string sink)
    : state_(std::make_shared<State>(times, std::move(sink))) {}

void StreamPads::prepare(GstElement* element, const Note& note) {
  if (GST_IS_BIN(element)) return;
  const bool is_sink = GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SINK);
  const bool is_source = GST_OBJECT_FLAG_IS_SET(element, GST_ELEMENT_FLAG_SOURCE);
  const std::string factory = factory_name(element);
  if (is_sink || factory == "identity" || factory == "clocksync") {
    set_off(element, "sync", "so that frames do not wait for the clock", note);
  }
  if (is_source) {
    let_go_on(element, note);
    set_off(element, "is-live", "so that frames come at the rate asked for", note);
    set_off(element, "do-timestamp", "so that frames are known by their times", note);
  }
  if (is_sink && (state_->sink.empty() || is_named(element, state_->sink))) {
    for_sink_pads(element, state_, [](GstPad* pad, const std::shared_ptr<State>& state) {
      gst_pad_add_probe(
          pad,
          static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_BUFFER_LIST),
          take_arrival, new PadProbe{state, false}, drop_probe);
    });
  }
  const bool is_decoder = has_class(element, {"Decoder"}) &&
                          (has_class(element, {"Video"}) || has_class(element, {"Image"}));
  if (is_decoder) {
    decode_as_live(element, note);
    for_sink_pads(element, state_, [](GstPad* pad, const std::shared_ptr<State>& state) {
      add_pacing_probes(pad, state, true);
    });
  } else if (is_source || has_class(element, {"Parser"}) || has_class(element, {"Demux"})) {
    watch_source_pads(element, state_);
  }
}

void StreamPads::stop() {
  state_->loop.stop();
  state_->times.stop();
}

bool StreamPads::has_arrived() const {
  const std::lock_guard lock(state_->mutex);
  return state_->sink_pad != nullptr;
}

std::string StreamPads::problem() const {
  const std::lock_guard lock(state_->mutex);
  return state_->problem;
}

std::string StreamPads::pacing_place() const {
  const std::lock_guard lock(state_->mutex);
  return state_->pacing_place;
}

size_t StreamPads::loops() const {
  return state_->loop.loops();
}

}  // namespace het::density
