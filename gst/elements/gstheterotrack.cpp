/**
 * SECTION:element-heterotrack
 * @title: heterotrack
 * @short_description: tells which objects of different frames are the same
 *
 * Gives each region of interest an id that it keeps from frame to frame: param "object_id" of the
 * region, key id in JSON. Ids are unique within a stream; a flush and a new stream begin anew.
 * Pixels are not looked at, so frames may be in any memory.
 *
 * With #tracking-type=short-term-imageless frames without any detection (inference-interval of the
 * detector) get the boxes where objects are supposed to be. With deep-sort objects are told apart
 * by feature vectors, which a re-identification model before this element attaches to the regions:
 * `heterodetect ... ! heteroinference model=REID inference-region=roi-list ! heterotrack
 * tracking-type=deep-sort`.
 *
 * byte-track and oc-sort follow an object through frames in which the detector is not sure of it
 * (half hidden, blurred), so they want its low confidences, too: give heterodetect a threshold of
 * 0.1 and put heterotrack right behind it. What is below track_threshold (key of #config, 0.5) and
 * is no object that is known already is taken off the frame: later elements never see it. An object
 * that says no confidence counts as a sure one. oc-sort also minds in which direction objects go,
 * and corrects their paths when it finds them again; it is the better one where they turn.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect inference-interval=3 model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heterotrack tracking-type=short-term-imageless config=tracking_per_class=false ! \
 *   heterometaconvert ! heterometapublish ! fakesink
 * ]|
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect threshold=0.1 model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heterotrack tracking-type=byte-track config=track_threshold=0.6,max_age=60 ! \
 *   heterometaconvert ! heterometapublish ! fakesink
 * ]|
 */
#include "gstheterotrack.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gst/measuring/element_error.h"
#include "gst/metadata/frame_tracking.h"
#include "metadata_transform.h"

GST_DEBUG_CATEGORY_STATIC(heterotrack_debug);
#define GST_CAT_DEFAULT heterotrack_debug

enum { kPropTrackingType = 1, kPropDevice, kPropConfig, kPropDeepSortConfig, kPropStats };

struct TrackSettings {
  int tracking_type = 0;  ///< of tracking::tracker_names()
  std::string device;
  std::string config;
  std::string deep_sort_config;
};

/// From start to stop.
struct TrackState {
  std::unique_ptr<het::gst::FrameTracking> tracking;  ///< streaming thread
  bool warned = false;
  // What stats has, from start to the next start.
  std::atomic<uint64_t> frames = 0;
  std::atomic<uint64_t> objects = 0;
  std::atomic<uint64_t> ids = 0;
};

struct GstHeteroTrack {
  GstBaseTransform parent;
  TrackSettings* settings;  ///< protected by the object lock
  TrackState* state;
  GstVideoInfo info;  ///< streaming thread
};

struct GstHeteroTrackClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_TRACK(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_TRACK, GstHeteroTrack))

G_DEFINE_TYPE(GstHeteroTrack, gst_hetero_track, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heterotrack, "heterotrack", GST_RANK_NONE, GST_TYPE_HETERO_TRACK)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));

static GType tracking_type_type() {
  static const std::vector<GEnumValue> values = [] {
    std::vector<GEnumValue> made;
    for (const het::tracking::TrackerName& named : het::tracking::tracker_names())
      made.push_back({static_cast<gint>(made.size()), named.meaning, named.name});
    made.push_back({0, nullptr, nullptr});
    return made;
  }();
  static const GType type = g_enum_register_static("GstHeteroTrackingType", values.data());
  return type;
}

static gboolean gst_hetero_track_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_TRACK(base);
  GST_OBJECT_LOCK(self);
  const TrackSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  het::tracking::TrackerSettings tracker;
  tracker.type = het::tracking::tracker_names()[static_cast<size_t>(settings.tracking_type)].type;
  const het::Status status =
      het::tracking::read_tracker_config(settings.config, settings.deep_sort_config, tracker);
  if (!status.ok()) {
    het::gst::post_error(GST_ELEMENT(self), status);
    return FALSE;
  }
  if (!settings.device.empty() && settings.device != "CPU") {
    GST_ELEMENT_WARNING(
        self, LIBRARY, SETTINGS,
        ("device=%s has no effect: tracking compares boxes and vectors, on the CPU; leave it out",
         settings.device.c_str()),
        (nullptr));
  }
  self->state->tracking = std::make_unique<het::gst::FrameTracking>(tracker);
  self->state->warned = false;
  self->state->frames = self->state->objects = self->state->ids = 0;
  return TRUE;
}

static gboolean gst_hetero_track_stop(GstBaseTransform* base) {
  GST_HETERO_TRACK(base)->state->tracking.reset();
  return TRUE;
}

static gboolean gst_hetero_track_set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  return gst_video_info_from_caps(&GST_HETERO_TRACK(base)->info, caps);
}

static gboolean gst_hetero_track_sink_event(GstBaseTransform* base, GstEvent* event) {
  auto* self = GST_HETERO_TRACK(base);
  const GstEventType type = GST_EVENT_TYPE(event);
  if ((type == GST_EVENT_STREAM_START || type == GST_EVENT_FLUSH_STOP) && self->state->tracking) {
    self->state->tracking->reset();
  }
  return GST_BASE_TRANSFORM_CLASS(gst_hetero_track_parent_class)->sink_event(base, event);
}

static GstFlowReturn gst_hetero_track_transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  auto* self = GST_HETERO_TRACK(base);
  het::gst::FrameTracking& tracking = *self->state->tracking;
  tracking.track(buffer, self->info);
  ++self->state->frames;
  self->state->objects = tracking.tracked();
  self->state->ids = tracking.ids();
  if (tracking.without_feature() > 0 && !std::exchange(self->state->warned, true)) {
    GST_ELEMENT_WARNING(
        self, STREAM, WRONG_TYPE,
        ("an object carries no feature vector and is tracked by its place alone; deep-sort wants "
         "heteroinference inference-region=roi-list with a re-identification model before it"),
        (nullptr));
  }
  return GST_FLOW_OK;
}

/// The text member that a property id stands for, or null.
static std::string* text_member(TrackSettings& settings, guint id) {
  switch (id) {
    case kPropDevice:
      return &settings.device;
    case kPropConfig:
      return &settings.config;
    case kPropDeepSortConfig:
      return &settings.deep_sort_config;
    default:
      return nullptr;
  }
}

static void gst_hetero_track_set_property(GObject* object, guint id, const GValue* value,
                                          GParamSpec* spec) {
  auto* self = GST_HETERO_TRACK(object);
  GST_OBJECT_LOCK(self);
  if (std::string* text = text_member(*self->settings, id)) {
    const char* given = g_value_get_string(value);
    *text = given ? given : "";
  } else if (id == kPropTrackingType) {
    self->settings->tracking_type = g_value_get_enum(value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_track_get_property(GObject* object, guint id, GValue* value,
                                          GParamSpec* spec) {
  auto* self = GST_HETERO_TRACK(object);
  if (id == kPropStats) {
    const TrackState& state = *self->state;
    g_value_take_boxed(value, gst_structure_new("heterotrack-stats", "frames", G_TYPE_UINT64,
                                                guint64{state.frames}, "objects", G_TYPE_UINT64,
                                                guint64{state.objects}, "ids", G_TYPE_UINT64,
                                                guint64{state.ids}, nullptr));
    return;
  }
  GST_OBJECT_LOCK(self);
  if (const std::string* text = text_member(*self->settings, id)) {
    g_value_set_string(value, text->c_str());
  } else if (id == kPropTrackingType) {
    g_value_set_enum(value, self->settings->tracking_type);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_track_finalize(GObject* object) {
  auto* self = GST_HETERO_TRACK(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_track_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, kPropTrackingType,
      g_param_spec_enum("tracking-type", "Tracking type", "How objects are told apart",
                        tracking_type_type(), 0, flags));
  g_object_class_install_property(
      klass, kPropDevice,
      g_param_spec_string("device", "Device",
                          "For pipelines of DL Streamer; anything but CPU is answered with a "
                          "warning, as tracking needs no device",
                          "", flags));
  g_object_class_install_property(
      klass, kPropConfig,
      g_param_spec_string(
          "config", "Configuration",
          "KEY=VALUE,KEY=VALUE: tracking_per_class (true; false: an object may change its label), "
          "max_num_objects (-1 = no limit), max_age (30 frames that an object may be missing), "
          "max_prediction (5 frames without detections that short-term-imageless fills). Of "
          "byte-track and oc-sort: track_threshold (0.5, confidence of what is an object by "
          "itself), new_threshold (track_threshold + 0.1, from where on it begins a track), "
          "low_threshold (0.1, from where on it goes on with one), n_init (2 frames until an "
          "object "
          "gets its id)",
          "", flags));
  g_object_class_install_property(
      klass, kPropDeepSortConfig,
      g_param_spec_string(
          "deepsort-trck-cfg", "Deep SORT configuration",
          "KEY=VALUE,KEY=VALUE: max_iou_distance (0.7), max_age (30 frames), n_init (3 frames "
          "until "
          "an object gets its id), max_cosine_distance (0.2), nn_budget (100 vectors per object), "
          "object_class (empty = all), reid_max_age (0 frames after max_age in which looks alone "
          "find an object again)",
          "", flags));
  g_object_class_install_property(
      klass, kPropStats,
      g_param_spec_boxed("stats", "Statistics",
                         "Counters since the element started, uint64: frames, objects (with an "
                         "id, on each frame), ids (different ones given)",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void gst_hetero_track_class_init(GstHeteroTrackClass* klass) {
  GST_DEBUG_CATEGORY_INIT(heterotrack_debug, "heterotrack", 0, "ids of objects");
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_track_set_property;
  object_class->get_property = gst_hetero_track_get_property;
  object_class->finalize = gst_hetero_track_finalize;
  install_properties(object_class);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Object tracking", "Analyzer/Video",
                                        "Gives the objects on frames ids that they keep",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  het::gst::make_metadata_transform(base_class);
  base_class->start = gst_hetero_track_start;
  base_class->stop = gst_hetero_track_stop;
  base_class->set_caps = gst_hetero_track_set_caps;
  base_class->sink_event = gst_hetero_track_sink_event;
  base_class->transform_ip = gst_hetero_track_transform_ip;
}

static void gst_hetero_track_init(GstHeteroTrack* self) {
  self->settings = new TrackSettings();
  self->state = new TrackState();
  gst_video_info_init(&self->info);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}
