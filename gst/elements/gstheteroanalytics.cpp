/**
 * SECTION:element-heteroanalytics
 * @title: heteroanalytics
 * @short_description: counts objects in zones and across lines
 *
 * Says of each object on a frame in which zones it is and for how long, and which tripwires it has
 * crossed, by the ids of heterotrack. Counts are in #stats, on the frame (heterowatermark draws
 * them, heterometaconvert writes them) and in element messages: `hetero-zone`, `hetero-tripwire`
 * and `hetero-crowd`, each event once. docs/analytics.md has the rules and every key.
 *
 * A frame that was not analysed, results that are carried and places that a tracker supposes are no
 * observations. Pixels are not looked at, so frames may be in any memory.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect threshold=0.1 model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! heterotrack ! \
 *   heteroanalytics \
 *   zones='[{"id":"left","type":"circle","center":{"x":160,"y":180},"radius":150}]' tripwires='[ \
 *   {"id":"middle","units":"relative","points":[{"x":0.5,"y":1},{"x":0.5,"y":0}]}]' ! \
 *   heterowatermark ! heterometaconvert add-empty-results=true ! heterometapublish ! fakesink
 * ]|
 */
#include "gstheteroanalytics.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/measuring/element_error.h"
#include "gst/metadata/analysis_mark.h"
#include "gst/metadata/metadata.h"
#include "gst/metadata/zone_record.h"
#include "inference/zones/zone_analysis.h"
#include "metadata_transform.h"

GST_DEBUG_CATEGORY_STATIC(heteroanalytics_debug);
#define GST_CAT_DEFAULT heteroanalytics_debug

enum {
  kPropConfig = 1,
  kPropZones,
  kPropTripwires,
  kPropCamera,
  kPropDrawZones,
  kPropDrawTripwires,
  kPropEvaluationPoint,
  kPropHysteresis,
  kPropGraceTime,
  kPropPostMessages,
  kPropStats,
};

/// DL Streamer's order.
enum EvaluationPoint { kPointCenter, kPointBottomCenter };

constexpr double kDefaultHysteresis = 4.0;
constexpr double kDefaultGraceTime = 1.0;

struct AnalyticsSettings {
  het::zones::ConfigurationSource source;
  bool draw_zones = true;
  bool draw_tripwires = true;
  int evaluation_point = kPointBottomCenter;
  double hysteresis = kDefaultHysteresis;
  double grace_time = kDefaultGraceTime;
  bool post_messages = true;
};

/// From start to the next start, so that stats can be read after the end.
struct AnalyticsState {
  het::zones::ZoneAnalysis analysis;
  het::zones::Configuration configuration;
  bool is_changed = true;  ///< the analysis does not know configuration or settings yet
  guint64 frames = 0;
  guint64 frames_analysed = 0;
  GstClockTime last_time = 0;
  bool warned_of_ids = false;
  std::vector<std::string> outside;  ///< zones that were warned of
};

struct GstHeteroAnalytics {
  GstBaseTransform parent;
  AnalyticsSettings* settings;  ///< protected by the object lock
  bool is_started;              ///< the same
  std::mutex* changing;         ///< one change of the configuration at a time; taken first
  std::mutex* mutex;            ///< protects state; taken before the object lock
  AnalyticsState* state;
  GstVideoInfo info;  ///< streaming thread
};

struct GstHeteroAnalyticsClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_ANALYTICS(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_ANALYTICS, GstHeteroAnalytics))

G_DEFINE_TYPE(GstHeteroAnalytics, gst_hetero_analytics, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heteroanalytics, "heteroanalytics", GST_RANK_NONE,
                            GST_TYPE_HETERO_ANALYTICS)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));

static GType evaluation_point_type() {
  static const GEnumValue values[] = {
      {kPointCenter, "The centre of an object's box", "center"},
      {kPointBottomCenter, "The middle of its lower side, where it stands", "bottom-center"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroEvaluationPoint", values);
  return type;
}

static AnalyticsSettings settings_of(GstHeteroAnalytics* self) {
  GST_OBJECT_LOCK(self);
  AnalyticsSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  return settings;
}

/// Posts events as element messages.
static void tell(GstHeteroAnalytics* self, const std::vector<het::zones::Event>& events) {
  using Kind = het::zones::Event::Kind;
  for (const het::zones::Event& event : events) {
    const auto time = static_cast<guint64>(std::max<int64_t>(event.time_ns, 0));
    GstStructure* told = nullptr;
    if (event.kind == Kind::Crossing) {
      told = gst_structure_new("hetero-tripwire", "tripwire-id", G_TYPE_STRING, event.shape.c_str(),
                               "direction", G_TYPE_INT, event.direction, nullptr);
    } else if (event.kind == Kind::CrowdBegin || event.kind == Kind::CrowdEnd) {
      told =
          gst_structure_new("hetero-crowd", "zone-id", G_TYPE_STRING, event.shape.c_str(), "event",
                            G_TYPE_STRING, event.kind == Kind::CrowdBegin ? "begin" : "end",
                            "occupancy", G_TYPE_UINT64, guint64{event.occupancy}, nullptr);
    } else {
      const char* name = event.kind == Kind::Enter  ? "enter"
                         : event.kind == Kind::Exit ? "exit"
                                                    : "dwell-limit";
      told = gst_structure_new("hetero-zone", "zone-id", G_TYPE_STRING, event.shape.c_str(),
                               "event", G_TYPE_STRING, name, nullptr);
      if (event.kind != Kind::Enter)
        gst_structure_set(told, "dwell", G_TYPE_UINT64, static_cast<guint64>(event.dwell_ns),
                          nullptr);
    }
    gst_structure_set(told, "time", G_TYPE_UINT64, time, nullptr);
    if (event.object_id)
      gst_structure_set(told, "object-id", G_TYPE_INT, *event.object_id, "label", G_TYPE_STRING,
                        event.label.c_str(), nullptr);
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), told));
  }
}

static gboolean gst_hetero_analytics_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_ANALYTICS(base);
  std::unique_lock changing(*self->changing);
  const AnalyticsSettings settings = settings_of(self);
  auto configuration = het::zones::read_configuration(settings.source);
  if (!configuration) {
    changing.unlock();
    het::gst::post_error(GST_ELEMENT(self), configuration.error());
    return FALSE;
  }
  const bool is_empty = configuration->zones.empty() && configuration->tripwires.empty();
  {
    const std::scoped_lock lock(*self->mutex);
    delete self->state;
    self->state = new AnalyticsState();
    self->state->configuration = std::move(*configuration);
  }
  GST_OBJECT_LOCK(self);
  self->is_started = true;
  GST_OBJECT_UNLOCK(self);
  changing.unlock();  // before others hear of it
  if (is_empty) {
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                        ("there is no zone and no tripwire, so nothing is counted; name them with "
                         "the properties config, zones or tripwires"),
                        (nullptr));
  }
  return TRUE;
}

static gboolean gst_hetero_analytics_stop(GstBaseTransform* base) {
  auto* self = GST_HETERO_ANALYTICS(base);
  GST_OBJECT_LOCK(self);
  self->is_started = false;
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean gst_hetero_analytics_set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  auto* self = GST_HETERO_ANALYTICS(base);
  if (!gst_video_info_from_caps(&self->info, caps)) return FALSE;
  const std::scoped_lock lock(*self->mutex);
  self->state->is_changed = true;
  return TRUE;
}

static gboolean gst_hetero_analytics_sink_event(GstBaseTransform* base, GstEvent* event) {
  auto* self = GST_HETERO_ANALYTICS(base);
  const GstEventType type = GST_EVENT_TYPE(event);
  // Ids begin anew.
  if (type == GST_EVENT_STREAM_START || type == GST_EVENT_FLUSH_STOP) {
    std::vector<het::zones::Event> events;
    {
      const std::scoped_lock lock(*self->mutex);
      events = self->state->analysis.reset();
    }
    if (settings_of(self).post_messages) tell(self, events);
  }
  return GST_BASE_TRANSFORM_CLASS(gst_hetero_analytics_parent_class)->sink_event(base, event);
}

/// In ns of stream time; of a frame without a time it follows from the frame rate.
static GstClockTime time_of(GstHeteroAnalytics* self, GstBuffer* buffer, AnalyticsState& state) {
  const GstSegment& segment = GST_BASE_TRANSFORM(self)->segment;
  const GstClockTime pts = GST_BUFFER_PTS(buffer);
  GstClockTime time = pts;
  if (GST_CLOCK_TIME_IS_VALID(pts) && segment.format == GST_FORMAT_TIME)
    time = gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, pts);
  if (!GST_CLOCK_TIME_IS_VALID(time)) {
    const gint numerator = GST_VIDEO_INFO_FPS_N(&self->info);
    const gint denominator = GST_VIDEO_INFO_FPS_D(&self->info);
    time = state.last_time;
    if (numerator > 0 && denominator > 0 && state.frames > 0)
      time += gst_util_uint64_scale_int(GST_SECOND, denominator, numerator);
  }
  state.last_time = time;
  return time;
}

static het::zones::SeenObject seen_object(const het::gst::FrameObject& object, double width,
                                          double height) {
  het::zones::SeenObject seen;
  seen.id = object.object_id;
  seen.label = object.type;
  seen.is_carried = object.is_carried;
  // A turned box is where the upright one around it is.
  if (object.detection && object.detection->rotation == 0.0) {
    seen.left = object.detection->x_min * width;
    seen.right = object.detection->x_max * width;
    seen.top = object.detection->y_min * height;
    seen.bottom = object.detection->y_max * height;
    return seen;
  }
  seen.left = object.rect.x;
  seen.top = object.rect.y;
  seen.right = seen.left + object.rect.width;
  seen.bottom = seen.top + object.rect.height;
  return seen;
}

/// The frame's objects; `places` has their numbers among all regions of the frame.
static het::zones::SeenFrame seen_frame(GstBuffer* buffer, const GstVideoInfo& info,
                                        std::vector<size_t>& places) {
  const int width = GST_VIDEO_INFO_WIDTH(&info);
  const int height = GST_VIDEO_INFO_HEIGHT(&info);
  const std::vector<het::gst::FrameObject> objects = het::gst::frame_objects(buffer, width, height);
  het::zones::SeenFrame frame;
  bool has_fresh = false;
  for (size_t i = 0; i < objects.size(); ++i) {
    if (het::gst::is_whole_picture(objects[i])) continue;
    frame.objects.push_back(seen_object(objects[i], width, height));
    places.push_back(i);
    has_fresh |= !objects[i].is_carried;
  }
  // One that another detector has looked into is analysed, whoever let it pass.
  frame.is_analysed =
      has_fresh || (frame.objects.empty() && !het::gst::is_marked_not_analysed(buffer));
  return frame;
}

/// What has changed since the last frame.
static void take_changes(GstHeteroAnalytics* self, const AnalyticsSettings& settings,
                         std::vector<het::zones::Event>& events,
                         std::vector<std::string>& outside) {
  AnalyticsState& state = *self->state;
  if (!std::exchange(state.is_changed, false)) return;
  het::zones::AnalysisDefaults defaults;
  defaults.anchor = settings.evaluation_point == kPointCenter ? het::zones::Anchor::Center
                                                              : het::zones::Anchor::BottomCenter;
  defaults.hysteresis_pixels = settings.hysteresis;
  defaults.grace_time_s = settings.grace_time;
  events =
      state.analysis.configure(state.configuration, defaults, GST_VIDEO_INFO_WIDTH(&self->info),
                               GST_VIDEO_INFO_HEIGHT(&self->info));
  const std::vector<std::string> zones = state.analysis.zones_outside();
  if (zones != state.outside) outside = zones;
  state.outside = zones;
}

static GstFlowReturn gst_hetero_analytics_transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  auto* self = GST_HETERO_ANALYTICS(base);
  const AnalyticsSettings settings = settings_of(self);
  std::vector<size_t> places;
  het::zones::SeenFrame frame = seen_frame(buffer, self->info, places);
  std::vector<het::zones::Event> events;
  std::vector<std::string> outside;
  bool lacks_id = false;
  {
    const std::scoped_lock lock(*self->mutex);
    AnalyticsState& state = *self->state;
    take_changes(self, settings, events, outside);
    frame.time_ns = static_cast<int64_t>(time_of(self, buffer, state));
    ++state.frames;
    if (frame.is_analysed) ++state.frames_analysed;
    for (const het::zones::SeenObject& object : frame.objects) lacks_id |= !object.id;
    lacks_id = lacks_id && !std::exchange(state.warned_of_ids, state.warned_of_ids || lacks_id);
    het::zones::FrameResult result = state.analysis.update(frame);
    events.insert(events.end(), result.events.begin(), result.events.end());
    std::vector<het::zones::FrameResult::Object> by_region;
    for (size_t i = 0; i < places.size(); ++i) {
      by_region.resize(places[i] + 1);
      by_region[places[i]] = std::move(result.objects[i]);
    }
    het::gst::add_zone_params(buffer, state.analysis.configuration(), by_region);
    const het::gst::ZoneRecord record = het::gst::record_of(
        state.analysis, GST_VIDEO_INFO_WIDTH(&self->info), GST_VIDEO_INFO_HEIGHT(&self->info),
        settings.draw_zones, settings.draw_tripwires);
    if (!record.empty()) het::gst::attach_zone_record(buffer, record);
  }
  for (const std::string& zone : outside) {
    GST_ELEMENT_WARNING(
        self, LIBRARY, SETTINGS,
        ("zone '%s' lies outside of the picture of %dx%d, so nothing can be in it; "
         "its points are pixels, or 0 to 1 with \"units\" \"relative\"",
         zone.c_str(), GST_VIDEO_INFO_WIDTH(&self->info), GST_VIDEO_INFO_HEIGHT(&self->info)),
        (nullptr));
  }
  if (lacks_id) {
    GST_ELEMENT_WARNING(
        self, STREAM, WRONG_TYPE,
        ("an object has no id: those without count in zones by their place alone, and cross no "
         "tripwire; put heterotrack before this element"),
        (nullptr));
  }
  if (settings.post_messages) tell(self, events);
  return GST_FLOW_OK;
}

/// The text of the configuration that a property id stands for, or null.
static std::string* source_member(AnalyticsSettings& settings, guint id) {
  switch (id) {
    case kPropConfig:
      return &settings.source.file;
    case kPropZones:
      return &settings.source.zones;
    case kPropTripwires:
      return &settings.source.tripwires;
    case kPropCamera:
      return &settings.source.camera;
    default:
      return nullptr;
  }
}

/// Before start nothing is read yet. Later a text that is wrong changes nothing.
static void change_source(GstHeteroAnalytics* self, guint id, const char* given) {
  std::unique_lock changing(*self->changing);
  AnalyticsSettings changed = settings_of(self);
  *source_member(changed, id) = given ? given : "";
  GST_OBJECT_LOCK(self);
  const bool is_started = self->is_started;
  if (!is_started) self->settings->source = changed.source;
  GST_OBJECT_UNLOCK(self);
  if (!is_started) return;
  auto configuration = het::zones::read_configuration(changed.source);
  if (!configuration) {
    changing.unlock();  // before others hear of it
    GST_ELEMENT_WARNING(
        self, LIBRARY, SETTINGS,
        ("%s. Zones and tripwires stay as they were.", configuration.error().message().c_str()),
        (nullptr));
    return;
  }
  const std::scoped_lock lock(*self->mutex);
  self->state->configuration = std::move(*configuration);
  self->state->is_changed = true;
  GST_OBJECT_LOCK(self);
  self->settings->source = changed.source;
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_analytics_set_property(GObject* object, guint id, const GValue* value,
                                              GParamSpec* spec) {
  auto* self = GST_HETERO_ANALYTICS(object);
  if (id == kPropConfig || id == kPropZones || id == kPropTripwires || id == kPropCamera) {
    change_source(self, id, g_value_get_string(value));
    return;
  }
  const std::scoped_lock lock(*self->mutex);
  GST_OBJECT_LOCK(self);
  AnalyticsSettings& settings = *self->settings;
  if (id == kPropDrawZones) {
    settings.draw_zones = g_value_get_boolean(value);
  } else if (id == kPropDrawTripwires) {
    settings.draw_tripwires = g_value_get_boolean(value);
  } else if (id == kPropEvaluationPoint) {
    settings.evaluation_point = g_value_get_enum(value);
  } else if (id == kPropHysteresis) {
    settings.hysteresis = g_value_get_double(value);
  } else if (id == kPropGraceTime) {
    settings.grace_time = g_value_get_double(value);
  } else if (id == kPropPostMessages) {
    settings.post_messages = g_value_get_boolean(value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
  self->state->is_changed = true;
}

static GstStructure* stats_of(GstHeteroAnalytics* self) {
  const std::scoped_lock lock(*self->mutex);
  const AnalyticsState& state = *self->state;
  GstStructure* stats = gst_structure_new(
      "stats", "frames", G_TYPE_UINT64, state.frames, "frames-analysed", G_TYPE_UINT64,
      state.frames_analysed, "objects", G_TYPE_UINT64, guint64{state.analysis.followed()}, nullptr);
  het::gst::set_zone_counts(stats, het::gst::record_of(state.analysis, 1, 1, false, false));
  return stats;
}

static void gst_hetero_analytics_get_property(GObject* object, guint id, GValue* value,
                                              GParamSpec* spec) {
  auto* self = GST_HETERO_ANALYTICS(object);
  if (id == kPropStats) {
    g_value_take_boxed(value, stats_of(self));
    return;
  }
  AnalyticsSettings settings = settings_of(self);
  if (const std::string* text = source_member(settings, id)) {
    g_value_set_string(value, text->c_str());
  } else if (id == kPropDrawZones) {
    g_value_set_boolean(value, settings.draw_zones);
  } else if (id == kPropDrawTripwires) {
    g_value_set_boolean(value, settings.draw_tripwires);
  } else if (id == kPropEvaluationPoint) {
    g_value_set_enum(value, settings.evaluation_point);
  } else if (id == kPropHysteresis) {
    g_value_set_double(value, settings.hysteresis);
  } else if (id == kPropGraceTime) {
    g_value_set_double(value, settings.grace_time);
  } else if (id == kPropPostMessages) {
    g_value_set_boolean(value, settings.post_messages);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

static void gst_hetero_analytics_finalize(GObject* object) {
  auto* self = GST_HETERO_ANALYTICS(object);
  delete self->state;
  delete self->mutex;
  delete self->changing;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_analytics_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_PLAYING);
  g_object_class_install_property(
      klass, kPropConfig,
      g_param_spec_string("config", "Configuration",
                          "Path of a JSON file with zones, tripwires and cameras", "", flags));
  g_object_class_install_property(
      klass, kPropZones,
      g_param_spec_string("zones", "Zones",
                          "JSON array of zones, appended to those of config: "
                          "[{\"id\":\"yard\",\"points\":[{\"x\":0,\"y\":0}, ...]}]",
                          "", flags));
  g_object_class_install_property(
      klass, kPropTripwires,
      g_param_spec_string("tripwires", "Tripwires",
                          "JSON array of tripwires, appended to those of config: "
                          "[{\"id\":\"gate\",\"points\":[{\"x\":0,\"y\":0},{\"x\":9,\"y\":0}]}]",
                          "", flags));
  g_object_class_install_property(
      klass, kPropCamera,
      g_param_spec_string("camera", "Camera",
                          "Which of the cameras in config is meant; empty: what holds for all", "",
                          flags));
  g_object_class_install_property(
      klass, kPropDrawZones,
      g_param_spec_boolean("draw-zones", "Draw zones", "Whether heterowatermark draws zones", TRUE,
                           flags));
  g_object_class_install_property(
      klass, kPropDrawTripwires,
      g_param_spec_boolean("draw-tripwires", "Draw tripwires",
                           "Whether heterowatermark draws tripwires", TRUE, flags));
  g_object_class_install_property(
      klass, kPropEvaluationPoint,
      g_param_spec_enum("evaluation-point", "Evaluation point",
                        "The point of an object that is in a zone or crosses a line, where the "
                        "JSON has no anchor",
                        evaluation_point_type(), kPointBottomCenter, flags));
  g_object_class_install_property(
      klass, kPropHysteresis,
      g_param_spec_double("hysteresis", "Hysteresis",
                          "Pixels by which an object has to leave a line or a zone before it "
                          "counts, where the JSON has none",
                          0.0, 1e6, kDefaultHysteresis, flags));
  g_object_class_install_property(
      klass, kPropGraceTime,
      g_param_spec_double("grace-time", "Grace time",
                          "Seconds after which an id that is missing is forgotten, where the JSON "
                          "has none",
                          0.0, 1e6, kDefaultGraceTime, flags));
  g_object_class_install_property(
      klass, kPropPostMessages,
      g_param_spec_boolean("post-messages", "Post messages",
                           "Post hetero-zone, hetero-tripwire and hetero-crowd on the bus", TRUE,
                           flags));
  g_object_class_install_property(
      klass, kPropStats,
      g_param_spec_boxed("stats", "Statistics",
                         "frames, frames-analysed, objects (ids that are remembered): uint64; "
                         "zones and tripwires: arrays of what was counted, with classes",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void gst_hetero_analytics_class_init(GstHeteroAnalyticsClass* klass) {
  GST_DEBUG_CATEGORY_INIT(heteroanalytics_debug, "heteroanalytics", 0, "zones and tripwires");
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_analytics_set_property;
  object_class->get_property = gst_hetero_analytics_get_property;
  object_class->finalize = gst_hetero_analytics_finalize;
  install_properties(object_class);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Zones and tripwires", "Analyzer/Video",
                                        "Counts the objects on frames in zones and across lines",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  het::gst::make_metadata_transform(base_class);
  base_class->start = gst_hetero_analytics_start;
  base_class->stop = gst_hetero_analytics_stop;
  base_class->set_caps = gst_hetero_analytics_set_caps;
  base_class->sink_event = gst_hetero_analytics_sink_event;
  base_class->transform_ip = gst_hetero_analytics_transform_ip;
}

static void gst_hetero_analytics_init(GstHeteroAnalytics* self) {
  self->settings = new AnalyticsSettings();
  self->changing = new std::mutex();
  self->mutex = new std::mutex();
  self->state = new AnalyticsState();
  self->is_started = false;
  gst_video_info_init(&self->info);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}
