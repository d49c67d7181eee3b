/**
 * SECTION:element-heterofpscounter
 * @title: heterofpscounter
 * @short_description: prints frames per second
 *
 * Prints to standard output how many frames per second pass, every #interval seconds and at EOS.
 * All counters of a process with the same settings report together, one stream each.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=300 ! video/x-raw,width=320,height=180 ! \
 *   heterofpscounter interval=1 starting-frame=10 ! fakesink
 * ]|
 */
#include "gstheterofpscounter.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <cstdio>
#include <memory>
#include <string>

#include "gst/measuring/element_error.h"
#include "gst/measuring/fps_meter.h"

enum { kPropInterval = 1, kPropStartingFrame, kPropAverageFps, kPropStdDev, kPropLatency };

static constexpr char kDefaultInterval[] = "1";
static constexpr guint64 kMaxInterval = 24 * 3600;

struct FpsCounterSettings {
  std::string interval = kDefaultInterval;
  guint starting_frame = 0;
  het::gst::FpsExtras extras;
};

/// Lives from start to stop.
struct FpsCounterState {
  std::shared_ptr<het::gst::FpsMeter> meter;  ///< protected by the object lock
  std::string stream;                         ///< unique in the process
  bool wants_age = false;                     ///< streaming thread, like the name
};

struct GstHeteroFpsCounter {
  GstBaseTransform parent;
  FpsCounterSettings* settings;  ///< protected by the object lock
  FpsCounterState* state;
};

struct GstHeteroFpsCounterClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_FPS_COUNTER(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_FPS_COUNTER, GstHeteroFpsCounter))

G_DEFINE_TYPE(GstHeteroFpsCounter, gst_hetero_fps_counter, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heterofpscounter, "heterofpscounter", GST_RANK_NONE,
                            GST_TYPE_HETERO_FPS_COUNTER)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static void print_line(const std::optional<std::string>& line) {
  if (!line) return;
  std::fprintf(stdout, "%s\n", line->c_str());
  std::fflush(stdout);
}

static gboolean gst_hetero_fps_counter_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_FPS_COUNTER(base);
  GST_OBJECT_LOCK(self);
  const FpsCounterSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  guint64 interval = 0;
  if (!g_ascii_string_to_unsigned(settings.interval.c_str(), 10, 1, kMaxInterval, &interval,
                                  nullptr)) {
    const het::Status status =
        het::error(het::StatusCode::InvalidArgument,
                   "interval='{}' is not a whole number of seconds from 1 to {}", settings.interval,
                   kMaxInterval);
    het::gst::post_error(GST_ELEMENT(self), status);
    return FALSE;
  }
  self->state->wants_age = settings.extras.latency;
  // The address keeps equal element names of different pipelines apart.
  self->state->stream = fmt::format("{}@{}", GST_OBJECT_NAME(self), static_cast<void*>(self));
  GST_OBJECT_LOCK(self);
  self->state->meter = het::gst::FpsMeter::shared(static_cast<unsigned>(interval),
                                                  settings.starting_frame, settings.extras);
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean gst_hetero_fps_counter_stop(GstBaseTransform* base) {
  auto* self = GST_HETERO_FPS_COUNTER(base);
  print_line(self->state->meter->end(self->state->stream, std::chrono::steady_clock::now()));
  GST_OBJECT_LOCK(self);
  self->state->meter.reset();
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean gst_hetero_fps_counter_sink_event(GstBaseTransform* base, GstEvent* event) {
  auto* self = GST_HETERO_FPS_COUNTER(base);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    print_line(self->state->meter->end(self->state->stream, std::chrono::steady_clock::now()));
  }
  return GST_BASE_TRANSFORM_CLASS(gst_hetero_fps_counter_parent_class)->sink_event(base, event);
}

/// How long ago the frame was taken, by its time code (timecodestamper) and the system's clock.
static std::optional<double> age_ms(GstBuffer* buffer) {
  const GstVideoTimeCodeMeta* code = gst_buffer_get_video_time_code_meta(buffer);
  GDateTime* taken = code ? gst_video_time_code_to_date_time(&code->tc) : nullptr;
  if (!taken) return std::nullopt;
  const gint64 taken_us =
      g_date_time_to_unix(taken) * G_USEC_PER_SEC + g_date_time_get_microsecond(taken);
  g_date_time_unref(taken);
  return static_cast<double>(g_get_real_time() - taken_us) / 1e3;
}

static GstFlowReturn gst_hetero_fps_counter_transform_ip(GstBaseTransform* base,
                                                         GstBuffer* buffer) {
  auto* self = GST_HETERO_FPS_COUNTER(base);
  print_line(self->state->meter->frame(self->state->stream, std::chrono::steady_clock::now(),
                                       self->state->wants_age ? age_ms(buffer) : std::nullopt));
  return GST_FLOW_OK;
}

static void gst_hetero_fps_counter_set_property(GObject* object, guint id, const GValue* value,
                                                GParamSpec* spec) {
  auto* self = GST_HETERO_FPS_COUNTER(object);
  GST_OBJECT_LOCK(self);
  if (id == kPropInterval) {
    const char* text = g_value_get_string(value);
    self->settings->interval = text ? text : kDefaultInterval;
  } else if (id == kPropStartingFrame) {
    self->settings->starting_frame = g_value_get_uint(value);
  } else if (id == kPropStdDev) {
    self->settings->extras.deviation = g_value_get_boolean(value);
  } else if (id == kPropLatency) {
    self->settings->extras.latency = g_value_get_boolean(value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_fps_counter_get_property(GObject* object, guint id, GValue* value,
                                                GParamSpec* spec) {
  auto* self = GST_HETERO_FPS_COUNTER(object);
  GST_OBJECT_LOCK(self);
  if (id == kPropInterval) {
    g_value_set_string(value, self->settings->interval.c_str());
  } else if (id == kPropStartingFrame) {
    g_value_set_uint(value, self->settings->starting_frame);
  } else if (id == kPropStdDev) {
    g_value_set_boolean(value, self->settings->extras.deviation);
  } else if (id == kPropLatency) {
    g_value_set_boolean(value, self->settings->extras.latency);
  } else if (id == kPropAverageFps) {
    const double fps =
        self->state->meter
            ? self->state->meter->average_fps(self->state->stream, std::chrono::steady_clock::now())
            : 0.0;
    g_value_set_float(value, static_cast<float>(fps));
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_fps_counter_finalize(GObject* object) {
  auto* self = GST_HETERO_FPS_COUNTER(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_fps_counter_parent_class)->finalize(object);
}

static void gst_hetero_fps_counter_class_init(GstHeteroFpsCounterClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_fps_counter_set_property;
  object_class->get_property = gst_hetero_fps_counter_get_property;
  object_class->finalize = gst_hetero_fps_counter_finalize;
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      object_class, kPropInterval,
      g_param_spec_string("interval", "Interval", "Seconds between two lines, a whole number",
                          kDefaultInterval, flags));
  g_object_class_install_property(
      object_class, kPropStartingFrame,
      g_param_spec_uint("starting-frame", "Starting frame",
                        "Frames of each stream that are not counted, such as those of a warm-up", 0,
                        G_MAXUINT, 0, flags));
  g_object_class_install_property(
      object_class, kPropStdDev,
      g_param_spec_boolean("print-std-dev", "Standard deviation",
                           "Print the standard deviation of the times between frames too", FALSE,
                           flags));
  g_object_class_install_property(
      object_class, kPropLatency,
      g_param_spec_boolean("print-latency", "Latency",
                           "Print the mean age of the frames too; needs the time codes of "
                           "timecodestamper at the beginning of the pipeline",
                           FALSE, flags));
  g_object_class_install_property(
      object_class, kPropAverageFps,
      g_param_spec_float("avg-fps", "Average",
                         "Frames per second of this stream since its first counted frame", 0.0f,
                         G_MAXFLOAT, 0.0f,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Frame rate counter", "Filter/Debug",
                                        "Prints frames per second of all streams of the process",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  base_class->start = gst_hetero_fps_counter_start;
  base_class->stop = gst_hetero_fps_counter_stop;
  base_class->sink_event = gst_hetero_fps_counter_sink_event;
  base_class->transform_ip = gst_hetero_fps_counter_transform_ip;
  base_class->transform_ip_on_passthrough = TRUE;
}

static void gst_hetero_fps_counter_init(GstHeteroFpsCounter* self) {
  self->settings = new FpsCounterSettings();
  self->state = new FpsCounterState();
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}
