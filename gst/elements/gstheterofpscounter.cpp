/**
 * SECTION:element-heterofpscounter
 * @title: heterofpscounter
 * @short_description: prints frames per second
 *
 * Prints to standard output how many frames per second pass, every #interval seconds and at EOS.
 * All counters of a process with the same settings report together, one stream each.
 *
 * Counters of several processes report together through a FIFO: those with write-pipe print nothing
 * and tell the one with read-pipe of each frame, which counts their streams beside its own. It
 * makes the FIFO and removes it, and needs no source; without one, EOS follows when the last
 * process has left. Frames of the others wait until it is there. gvafpscounter's processes may take
 * part.
 *
 *     gst-launch-1.0 heterofpscounter read-pipe=/tmp/fps ! fakesink
 *     gst-launch-1.0 videotestsrc ! heterofpscounter write-pipe=/tmp/fps ! fakesink
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
#include <set>
#include <string>
#include <utility>

#include "gst/measuring/element_error.h"
#include "gst/measuring/fps_meter.h"
#include "gst/measuring/fps_pipe.h"

enum {
  kPropInterval = 1,
  kPropStartingFrame,
  kPropAverageFps,
  kPropStdDev,
  kPropLatency,
  kPropWritePipe,
  kPropReadPipe
};

static constexpr char kDefaultInterval[] = "1";
static constexpr guint64 kMaxInterval = 24 * 3600;

struct FpsCounterSettings {
  std::string interval = kDefaultInterval;
  guint starting_frame = 0;
  het::gst::FpsExtras extras;
  std::string write_pipe;
  std::string read_pipe;
};

/// Lives from start to stop.
struct FpsCounterState {
  std::shared_ptr<het::gst::FpsMeter> meter;        ///< protected by the object lock
  std::string stream;                               ///< unique in the process
  bool wants_age = false;                           ///< streaming thread, like the name
  std::shared_ptr<het::gst::FpsPipeWriter> writer;  ///< protected by the object lock; null: none
  bool told_of_reader = false;                      ///< streaming thread: it has left
  std::unique_ptr<het::gst::FpsPipeReader> reader;
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

static std::shared_ptr<het::gst::FpsPipeWriter> writer_of(GstHeteroFpsCounter* self) {
  GST_OBJECT_LOCK(self);
  auto writer = self->state->writer;
  GST_OBJECT_UNLOCK(self);
  return writer;
}

/// Without a source nobody else would end the stream.
static void end_without_source(GstHeteroFpsCounter* self) {
  GstBaseTransform* base = GST_BASE_TRANSFORM(self);
  if (gst_pad_is_linked(GST_BASE_TRANSFORM_SINK_PAD(base))) return;
  GstPad* pad = GST_BASE_TRANSFORM_SRC_PAD(base);
  gchar* id = gst_pad_create_stream_id(pad, GST_ELEMENT(self), nullptr);
  gst_pad_push_event(pad, gst_event_new_stream_start(id));
  g_free(id);
  gst_pad_push_event(pad, gst_event_new_eos());
}

/// Streams of other processes, counted by `meter`; called on the reader's thread.
static het::gst::FpsPipeReader::Listener pipe_listener(
    GstHeteroFpsCounter* self, const std::shared_ptr<het::gst::FpsMeter>& meter) {
  return {[meter](const std::string& stream) {
            print_line(meter->frame(stream, std::chrono::steady_clock::now()));
          },
          [self, meter](const std::set<std::string>& streams) {
            for (const std::string& stream : streams)
              print_line(meter->end(stream, std::chrono::steady_clock::now()));
            end_without_source(self);
          },
          [self](const het::Status& status) {
            GST_ELEMENT_WARNING(self, RESOURCE, READ, ("%s", status.message().c_str()), (nullptr));
          }};
}

static het::Status open_pipes(GstHeteroFpsCounter* self, const FpsCounterSettings& settings) {
  FpsCounterState& state = *self->state;
  if (!settings.write_pipe.empty() && !settings.read_pipe.empty()) {
    return het::error(het::StatusCode::InvalidArgument,
                      "write-pipe='{}' and read-pipe='{}' are both given; a counter either tells "
                      "another one of its frames or hears of others' frames",
                      settings.write_pipe, settings.read_pipe);
  }
  if (!settings.write_pipe.empty()) {
    auto writer = het::gst::FpsPipeWriter::create(settings.write_pipe, GST_OBJECT_NAME(self));
    if (!writer) return writer.error().with_context("write-pipe");
    GST_OBJECT_LOCK(self);
    state.writer = std::move(*writer);
    GST_OBJECT_UNLOCK(self);
  }
  if (!settings.read_pipe.empty()) {
    auto reader =
        het::gst::FpsPipeReader::create(settings.read_pipe, pipe_listener(self, state.meter));
    if (!reader) return reader.error().with_context("read-pipe");
    state.reader = std::move(*reader);
  }
  return {};
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
  self->state->told_of_reader = false;
  // The address keeps equal element names of different pipelines apart.
  self->state->stream = fmt::format("{}@{}", GST_OBJECT_NAME(self), static_cast<void*>(self));
  const auto seconds = static_cast<unsigned>(interval);
  // One that tells another process prints nothing, and counts for its own average only.
  auto meter = settings.write_pipe.empty()
                   ? het::gst::FpsMeter::shared(seconds, settings.starting_frame, settings.extras)
                   : std::make_shared<het::gst::FpsMeter>(seconds, settings.starting_frame);
  GST_OBJECT_LOCK(self);
  self->state->meter = std::move(meter);
  GST_OBJECT_UNLOCK(self);
  const het::Status opened = open_pipes(self, settings);
  if (opened.ok()) return TRUE;
  het::gst::post_error(GST_ELEMENT(self), opened);
  GST_OBJECT_LOCK(self);
  self->state->meter.reset();
  GST_OBJECT_UNLOCK(self);
  return FALSE;
}

static void end_stream(GstHeteroFpsCounter* self) {
  const auto line = self->state->meter->end(self->state->stream, std::chrono::steady_clock::now());
  if (!writer_of(self)) print_line(line);
}

static gboolean gst_hetero_fps_counter_stop(GstBaseTransform* base) {
  auto* self = GST_HETERO_FPS_COUNTER(base);
  self->state->reader.reset();
  end_stream(self);
  GST_OBJECT_LOCK(self);
  self->state->meter.reset();
  self->state->writer.reset();
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static GstStateChangeReturn gst_hetero_fps_counter_change_state(GstElement* element,
                                                                GstStateChange change) {
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) {
    // A frame that waits for the reader would hold up the pads' deactivation.
    if (const auto writer = writer_of(GST_HETERO_FPS_COUNTER(element))) writer->interrupt();
  }
  return GST_ELEMENT_CLASS(gst_hetero_fps_counter_parent_class)->change_state(element, change);
}

static gboolean gst_hetero_fps_counter_sink_event(GstBaseTransform* base, GstEvent* event) {
  auto* self = GST_HETERO_FPS_COUNTER(base);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) end_stream(self);
  if (const auto writer = writer_of(self)) {
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) writer->interrupt();
    if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) writer->resume();
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
  FpsCounterState& state = *self->state;
  const auto line = state.meter->frame(state.stream, std::chrono::steady_clock::now(),
                                       state.wants_age ? age_ms(buffer) : std::nullopt);
  const auto writer = writer_of(self);
  if (!writer) print_line(line);
  if (!writer || state.told_of_reader) return GST_FLOW_OK;
  const het::Status told = writer->frame();
  if (told.code() == het::StatusCode::Cancelled) return GST_FLOW_FLUSHING;
  if (told.ok()) return GST_FLOW_OK;
  state.told_of_reader = true;
  GST_ELEMENT_WARNING(self, RESOURCE, WRITE, ("%s", told.message().c_str()), (nullptr));
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
  } else if (id == kPropWritePipe || id == kPropReadPipe) {
    const char* text = g_value_get_string(value);
    (id == kPropWritePipe ? self->settings->write_pipe : self->settings->read_pipe) =
        text ? text : "";
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
  } else if (id == kPropWritePipe) {
    g_value_set_string(value, self->settings->write_pipe.c_str());
  } else if (id == kPropReadPipe) {
    g_value_set_string(value, self->settings->read_pipe.c_str());
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
  g_object_class_install_property(
      object_class, kPropWritePipe,
      g_param_spec_string("write-pipe", "Write pipe",
                          "Path of a FIFO: tell the counter that reads it of each frame, and print "
                          "nothing; empty = none. Frames wait until it is read",
                          "", flags));
  g_object_class_install_property(
      object_class, kPropReadPipe,
      g_param_spec_string("read-pipe", "Read pipe",
                          "Path of a FIFO: count the frames of other processes, too; it is made "
                          "here and removed at the end; empty = none",
                          "", flags));
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = gst_hetero_fps_counter_change_state;
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
