/**
 * SECTION:element-heterofpsthrottle
 * @title: heterofpsthrottle
 * @short_description: lets frames pass at most at a rate
 *
 * A frame that comes too early waits; none is dropped and none is repeated, whatever the sink
 * synchronises to. What upstream has lost it cannot catch up.
 *
 * While frames wait here, QoS events of downstream end here: upstream is not why they are late.
 * Answers to LATENCY queries contain the longest wait, and a LATENCY message tells of a new rate.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=320,height=180 ! \
 *   heterofpsthrottle target-fps=60 ! heterofpscounter ! fakesink
 * ]|
 */
#include "gstheterofpsthrottle.h"

#include <gst/base/gstbasetransform.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

enum { kPropTargetFps = 1 };

using FpsThrottleClock = std::chrono::steady_clock;

struct FpsThrottleSettings {
  double target_fps = 0.0;
};

/// Lives as long as the element.
struct FpsThrottleState {
  std::mutex mutex;  ///< protects everything here and the settings; taken alone
  std::condition_variable changed;
  std::optional<FpsThrottleClock::time_point> last;  ///< when the last frame passed
  FpsThrottleClock::duration ahead{};                ///< the time the last frame passed too late
  bool waits = false;                                ///< the last frame had to wait
  bool flushing = false;
  bool stopping = false;
};

struct GstHeteroFpsThrottle {
  GstBaseTransform parent;
  FpsThrottleSettings* settings;  ///< protected by the state's mutex
  FpsThrottleState* state;
};

struct GstHeteroFpsThrottleClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_FPS_THROTTLE(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_FPS_THROTTLE, GstHeteroFpsThrottle))

G_DEFINE_TYPE(GstHeteroFpsThrottle, gst_hetero_fps_throttle, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heterofpsthrottle, "heterofpsthrottle", GST_RANK_NONE,
                            GST_TYPE_HETERO_FPS_THROTTLE)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

/// The time between two frames; empty: they pass at once.
static std::optional<FpsThrottleClock::duration> period(const FpsThrottleSettings& settings) {
  if (settings.target_fps <= 0.0) return std::nullopt;
  // A day is for ever, and no overflow.
  const std::chrono::duration<double> seconds(std::min(1.0 / settings.target_fps, 86400.0));
  return std::chrono::duration_cast<FpsThrottleClock::duration>(seconds);
}

static void forget_frames(FpsThrottleState& state) {
  state.last.reset();
  state.ahead = {};
  state.waits = false;
}

static GstFlowReturn gst_hetero_fps_throttle_transform_ip(GstBaseTransform* base, GstBuffer*) {
  auto* self = GST_HETERO_FPS_THROTTLE(base);
  FpsThrottleState& state = *self->state;
  std::unique_lock lock(state.mutex);
  bool waited = false;
  FpsThrottleClock::time_point due = FpsThrottleClock::now();
  // The rate may change while a frame waits.
  while (!state.flushing && !state.stopping) {
    const auto distance = period(*self->settings);
    if (!state.last || !distance) break;
    // A wait always takes a bit too long: the next one is shorter by that, so that the rate holds.
    due = *state.last + *distance - std::min(state.ahead, *distance);
    if (FpsThrottleClock::now() >= due) break;
    waited = true;
    state.waits = true;
    state.changed.wait_until(lock, due);
  }
  if (state.flushing || state.stopping) return GST_FLOW_FLUSHING;
  const auto now = FpsThrottleClock::now();
  state.ahead = waited ? std::max(now - due, FpsThrottleClock::duration::zero())
                       : FpsThrottleClock::duration::zero();
  state.waits = waited;
  state.last = now;
  return GST_FLOW_OK;
}

static void set_flag(FpsThrottleState& state, bool FpsThrottleState::*flag, bool value) {
  const std::lock_guard lock(state.mutex);
  state.*flag = value;
  if (!value) forget_frames(state);
  state.changed.notify_all();
}

static gboolean gst_hetero_fps_throttle_start(GstBaseTransform* base) {
  set_flag(*GST_HETERO_FPS_THROTTLE(base)->state, &FpsThrottleState::stopping, false);
  set_flag(*GST_HETERO_FPS_THROTTLE(base)->state, &FpsThrottleState::flushing, false);
  return TRUE;
}

static GstStateChangeReturn gst_hetero_fps_throttle_change_state(GstElement* element,
                                                                 GstStateChange change) {
  // A frame that waits would hold up the pads' deactivation.
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_flag(*GST_HETERO_FPS_THROTTLE(element)->state, &FpsThrottleState::stopping, true);
  return GST_ELEMENT_CLASS(gst_hetero_fps_throttle_parent_class)->change_state(element, change);
}

static gboolean gst_hetero_fps_throttle_sink_event(GstBaseTransform* base, GstEvent* event) {
  auto* self = GST_HETERO_FPS_THROTTLE(base);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START)
    set_flag(*self->state, &FpsThrottleState::flushing, true);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    set_flag(*self->state, &FpsThrottleState::flushing, false);
  return GST_BASE_TRANSFORM_CLASS(gst_hetero_fps_throttle_parent_class)->sink_event(base, event);
}

static gboolean gst_hetero_fps_throttle_src_event(GstBaseTransform* base, GstEvent* event) {
  auto* self = GST_HETERO_FPS_THROTTLE(base);
  if (GST_EVENT_TYPE(event) == GST_EVENT_QOS) {
    const std::lock_guard lock(self->state->mutex);
    if (self->state->waits) {
      gst_event_unref(event);
      return TRUE;
    }
  }
  return GST_BASE_TRANSFORM_CLASS(gst_hetero_fps_throttle_parent_class)->src_event(base, event);
}

static gboolean gst_hetero_fps_throttle_query(GstBaseTransform* base, GstPadDirection direction,
                                              GstQuery* query) {
  auto* self = GST_HETERO_FPS_THROTTLE(base);
  if (!GST_BASE_TRANSFORM_CLASS(gst_hetero_fps_throttle_parent_class)
           ->query(base, direction, query)) {
    return FALSE;
  }
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY || direction != GST_PAD_SRC) return TRUE;
  gboolean live = FALSE;
  GstClockTime least = 0;
  GstClockTime most = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &least, &most);
  std::optional<FpsThrottleClock::duration> longest;
  {
    const std::lock_guard lock(self->state->mutex);
    longest = period(*self->settings);
  }
  if (!live || !longest) return TRUE;
  const auto wait = static_cast<GstClockTime>(std::chrono::nanoseconds(*longest).count());
  gst_query_set_latency(query, live, least + wait,
                        GST_CLOCK_TIME_IS_VALID(most) ? most + wait : GST_CLOCK_TIME_NONE);
  return TRUE;
}

static void gst_hetero_fps_throttle_set_property(GObject* object, guint id, const GValue* value,
                                                 GParamSpec* spec) {
  auto* self = GST_HETERO_FPS_THROTTLE(object);
  if (id != kPropTargetFps) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  {
    const std::lock_guard lock(self->state->mutex);
    self->settings->target_fps = g_value_get_double(value);
    self->state->changed.notify_all();
  }
  if (GST_STATE(self) >= GST_STATE_PAUSED)
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
}

static void gst_hetero_fps_throttle_get_property(GObject* object, guint id, GValue* value,
                                                 GParamSpec* spec) {
  auto* self = GST_HETERO_FPS_THROTTLE(object);
  if (id != kPropTargetFps) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  const std::lock_guard lock(self->state->mutex);
  g_value_set_double(value, self->settings->target_fps);
}

static void gst_hetero_fps_throttle_finalize(GObject* object) {
  auto* self = GST_HETERO_FPS_THROTTLE(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_fps_throttle_parent_class)->finalize(object);
}

static void gst_hetero_fps_throttle_class_init(GstHeteroFpsThrottleClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_fps_throttle_set_property;
  object_class->get_property = gst_hetero_fps_throttle_get_property;
  object_class->finalize = gst_hetero_fps_throttle_finalize;
  g_object_class_install_property(
      object_class, kPropTargetFps,
      g_param_spec_double("target-fps", "Target rate",
                          "Frames per second that pass at most; 0 = no limit", 0.0, G_MAXDOUBLE,
                          0.0,
                          static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_PLAYING)));
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = gst_hetero_fps_throttle_change_state;
  gst_element_class_set_static_metadata(element_class, "Frame rate limit", "Filter/Video",
                                        "Lets frames pass at most at a rate, dropping none",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  base_class->start = gst_hetero_fps_throttle_start;
  base_class->sink_event = gst_hetero_fps_throttle_sink_event;
  base_class->src_event = gst_hetero_fps_throttle_src_event;
  base_class->query = gst_hetero_fps_throttle_query;
  base_class->transform_ip = gst_hetero_fps_throttle_transform_ip;
  base_class->transform_ip_on_passthrough = TRUE;
}

static void gst_hetero_fps_throttle_init(GstHeteroFpsThrottle* self) {
  self->settings = new FpsThrottleSettings();
  self->state = new FpsThrottleState();
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}
