/**
 * SECTION:element-heteromotiondetect
 * @title: heteromotiondetect
 * @short_description: finds what moves, and lets still frames pass without inference
 *
 * Compares the luma of each frame with a background that it learns, and attaches a region of type
 * "motion" for what moves, which `heterodetect inference-region=roi-list` may look into. Noise and
 * changes of the light are no motion. The camera has to stand.
 *
 * With #gate=true frames in which nothing moves are marked: inference elements behind do not
 * analyse them, but give them the results of the last frame that was analysed, with their age,
 * which is below #max-age. With #add-regions=false no region is attached then.
 *
 * A flush, new caps, a gap, a discontinuity and timestamps that jump begin anew: for 8 frames the
 * background is learnt, nothing is found and every frame is analysed. docs/motion.md says more.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 pattern=ball ! \
 *   video/x-raw,format=NV12,width=640,height=384 ! heteromotiondetect ! \
 *   heterometaconvert ! heterometapublish ! fakesink
 * ]|
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=60 pattern=blue ! \
 *   video/x-raw,format=NV12,width=640,height=384 ! \
 *   heteromotiondetect gate=true add-regions=false ! \
 *   heterodetect model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heterometaconvert ! heterometapublish ! fakesink
 * ]|
 */
#include "gstheteromotiondetect.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <utility>

#include "gst/frames/luma_map.h"
#include "gst/measuring/element_error.h"
#include "gst/metadata/analysis_mark.h"
#include "gst/metadata/metadata.h"
#include "inference/motion/motion_detector.h"
#include "inference/motion/motion_gate.h"
#include "metadata_transform.h"

GST_DEBUG_CATEGORY_STATIC(heteromotiondetect_debug);
#define GST_CAT_DEFAULT heteromotiondetect_debug

enum {
  kPropBlockSize = 1,
  kPropMotionThreshold,
  kPropMinPersistence,
  kPropMaxMiss,
  kPropIouThreshold,
  kPropSmoothAlpha,
  kPropConfirmFrames,
  kPropPixelDiffThreshold,
  kPropMinRelArea,
  kPropAddRegions,
  kPropGate,
  kPropGateHold,
  kPropMaxAge,
  kPropStats
};

static constexpr guint kDefaultMaxAgeMs = 1000;
/// Of frames that say neither when they are nor how many come in a second.
static constexpr GstClockTime kAssumedDistance = GST_SECOND / 30;
/// Timestamps that go on after as long belong to another scene.
static constexpr GstClockTime kLongestPause = 2 * GST_SECOND;
static constexpr GstClockTime kLongestPauseFrames = 10;

struct MotionDetectSettings {
  het::motion::MotionSettings motion;
  bool add_regions = true;
  bool gate = false;
  guint gate_hold = 5;
  guint max_age_ms = kDefaultMaxAgeMs;
};

struct MotionDetectCounts {
  guint64 frames = 0;
  guint64 moving = 0;
  guint64 still = 0;  ///< that the gate has marked
  guint64 regions = 0;
  guint64 light_changes = 0;
  guint64 restarts = 0;
};

/// From start to stop; of the streaming thread.
struct MotionDetectState {
  het::motion::MotionDetector detector;
  het::motion::MotionGate gate;
  het::gst::LumaMap luma;
  GstClockTime time = 0;  ///< of the last frame; made up where frames have none
  GstClockTime distance = 0;
  bool has_frame = false;
};

struct GstHeteroMotionDetect {
  GstBaseTransform parent;
  MotionDetectSettings* settings;  ///< protected by the object lock
  MotionDetectCounts* counts;      ///< protected by the object lock
  MotionDetectState* state;
  GstVideoInfo info;  ///< streaming thread
};

struct GstHeteroMotionDetectClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_MOTION_DETECT(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_MOTION_DETECT, GstHeteroMotionDetect))

G_DEFINE_TYPE(GstHeteroMotionDetect, gst_hetero_motion_detect, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heteromotiondetect, "heteromotiondetect", GST_RANK_NONE,
                            GST_TYPE_HETERO_MOTION_DETECT)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_LUMA_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_LUMA_CAPS));

/// Another scene begins.
static void begin_anew(GstHeteroMotionDetect* self) {
  MotionDetectState& state = *self->state;
  if (!std::exchange(state.has_frame, false)) return;
  state.detector.reset();
  state.gate.reset();
  GST_OBJECT_LOCK(self);
  ++self->counts->restarts;
  GST_OBJECT_UNLOCK(self);
}

static gboolean gst_hetero_motion_detect_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_MOTION_DETECT(base);
  delete self->state;
  self->state = new MotionDetectState();
  GST_OBJECT_LOCK(self);
  *self->counts = MotionDetectCounts();
  GST_OBJECT_UNLOCK(self);
  return TRUE;
}

static gboolean gst_hetero_motion_detect_stop(GstBaseTransform* base) {
  auto* self = GST_HETERO_MOTION_DETECT(base);
  delete self->state;
  self->state = new MotionDetectState();
  return TRUE;
}

static gboolean gst_hetero_motion_detect_set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  auto* self = GST_HETERO_MOTION_DETECT(base);
  if (!het::gst::read_video_info(caps, &self->info)) return FALSE;
  begin_anew(self);
  const int rate = GST_VIDEO_INFO_FPS_N(&self->info);
  self->state->distance =
      rate > 0 ? gst_util_uint64_scale(GST_SECOND,
                                       static_cast<guint64>(GST_VIDEO_INFO_FPS_D(&self->info)),
                                       static_cast<guint64>(rate))
               : 0;
  return TRUE;
}

static gboolean gst_hetero_motion_detect_sink_event(GstBaseTransform* base, GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_GAP:
      begin_anew(GST_HETERO_MOTION_DETECT(base));
      break;
    default:
      break;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_hetero_motion_detect_parent_class)->sink_event(base, event);
}

/// Notes when the frame is; begins anew where it does not follow the one before.
static void follow_time(GstHeteroMotionDetect* self, GstBuffer* buffer) {
  MotionDetectState& state = *self->state;
  const GstClockTime distance = state.distance > 0 ? state.distance : kAssumedDistance;
  const GstClockTime stamp = GST_BUFFER_PTS(buffer);
  const GstClockTime last = state.time;
  state.time = GST_CLOCK_TIME_IS_VALID(stamp) ? stamp : last + distance;
  const GstClockTime pause = MAX(kLongestPause, kLongestPauseFrames * distance);
  if (GST_BUFFER_IS_DISCONT(buffer) || state.time < last || state.time - last > pause)
    begin_anew(self);
  state.has_frame = true;
}

static GstFlowReturn gst_hetero_motion_detect_transform_ip(GstBaseTransform* base,
                                                           GstBuffer* buffer) {
  auto* self = GST_HETERO_MOTION_DETECT(base);
  MotionDetectState& state = *self->state;
  GST_OBJECT_LOCK(self);
  const MotionDetectSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  follow_time(self, buffer);
  state.detector.configure(settings.motion);
  const auto found = [&]() -> het::Result<het::motion::MotionFrame> {
    HET_ASSIGN(const het::gst::MappedLuma luma, state.luma.map(buffer, self->info));
    return state.detector.update({luma.pixels(), luma.stride_bytes(), luma.width(), luma.height()});
  }();
  if (!found) {
    het::gst::post_error(GST_ELEMENT(self), found.error());
    return GST_FLOW_ERROR;
  }
  if (settings.add_regions) {
    for (const het::Rect& region : found->regions) het::gst::add_region(buffer, region, "motion");
  }
  const bool analyse = state.gate.opens(
      found->moves, state.time,
      {static_cast<int>(settings.gate_hold), settings.max_age_ms * guint64{GST_MSECOND}});
  const bool is_still = settings.gate && !analyse;
  if (is_still) het::gst::mark_still(buffer);
  GST_OBJECT_LOCK(self);
  MotionDetectCounts& counts = *self->counts;
  ++counts.frames;
  counts.moving += found->moves;
  counts.still += is_still;
  counts.regions += found->regions.size();
  counts.light_changes += found->light_changed;
  GST_OBJECT_UNLOCK(self);
  return GST_FLOW_OK;
}

static GstStructure* statistics(GstHeteroMotionDetect* self) {
  GST_OBJECT_LOCK(self);
  const MotionDetectCounts counts = *self->counts;
  GST_OBJECT_UNLOCK(self);
  const double share = counts.frames > 0
                           ? static_cast<double>(counts.still) / static_cast<double>(counts.frames)
                           : 0.0;
  return gst_structure_new(
      "heteromotiondetect-stats", "frames", G_TYPE_UINT64, counts.frames, "frames-moving",
      G_TYPE_UINT64, counts.moving, "frames-still", G_TYPE_UINT64, counts.still, "frames-analysed",
      G_TYPE_UINT64, counts.frames - counts.still, "share-still", G_TYPE_DOUBLE, share, "regions",
      G_TYPE_UINT64, counts.regions, "light-changes", G_TYPE_UINT64, counts.light_changes,
      "restarts", G_TYPE_UINT64, counts.restarts, nullptr);
}

/// The number that a property id stands for, or null.
static int* int_member(MotionDetectSettings& settings, guint id) {
  switch (id) {
    case kPropBlockSize:
      return &settings.motion.block_size;
    case kPropMinPersistence:
      return &settings.motion.min_persistence;
    case kPropMaxMiss:
      return &settings.motion.max_miss;
    case kPropConfirmFrames:
      return &settings.motion.confirm_frames;
    case kPropPixelDiffThreshold:
      return &settings.motion.pixel_diff_threshold;
    default:
      return nullptr;
  }
}

static double* double_member(MotionDetectSettings& settings, guint id) {
  switch (id) {
    case kPropMotionThreshold:
      return &settings.motion.motion_threshold;
    case kPropIouThreshold:
      return &settings.motion.iou_threshold;
    case kPropSmoothAlpha:
      return &settings.motion.smooth_alpha;
    case kPropMinRelArea:
      return &settings.motion.min_rel_area;
    default:
      return nullptr;
  }
}

static void gst_hetero_motion_detect_set_property(GObject* object, guint id, const GValue* value,
                                                  GParamSpec* spec) {
  auto* self = GST_HETERO_MOTION_DETECT(object);
  GST_OBJECT_LOCK(self);
  MotionDetectSettings& settings = *self->settings;
  if (int* number = int_member(settings, id)) {
    *number = g_value_get_int(value);
  } else if (double* share = double_member(settings, id)) {
    *share = g_value_get_double(value);
  } else if (id == kPropAddRegions || id == kPropGate) {
    (id == kPropGate ? settings.gate : settings.add_regions) = g_value_get_boolean(value);
  } else if (id == kPropGateHold || id == kPropMaxAge) {
    (id == kPropGateHold ? settings.gate_hold : settings.max_age_ms) = g_value_get_uint(value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_motion_detect_get_property(GObject* object, guint id, GValue* value,
                                                  GParamSpec* spec) {
  auto* self = GST_HETERO_MOTION_DETECT(object);
  if (id == kPropStats) {
    g_value_take_boxed(value, statistics(self));
    return;
  }
  GST_OBJECT_LOCK(self);
  MotionDetectSettings& settings = *self->settings;
  if (const int* number = int_member(settings, id)) {
    g_value_set_int(value, *number);
  } else if (const double* share = double_member(settings, id)) {
    g_value_set_double(value, *share);
  } else if (id == kPropAddRegions || id == kPropGate) {
    g_value_set_boolean(value, id == kPropGate ? settings.gate : settings.add_regions);
  } else if (id == kPropGateHold || id == kPropMaxAge) {
    g_value_set_uint(value, id == kPropGateHold ? settings.gate_hold : settings.max_age_ms);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_motion_detect_finalize(GObject* object) {
  auto* self = GST_HETERO_MOTION_DETECT(object);
  delete self->state;
  delete self->counts;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_motion_detect_parent_class)->finalize(object);
}

static constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                        GST_PARAM_MUTABLE_PLAYING);

static void install_motion_properties(GObjectClass* klass) {
  const het::motion::MotionSettings defaults;
  const auto add_int = [&](guint id, const char* name, const char* nick, const char* blurb, int low,
                           int high, int value) {
    g_object_class_install_property(klass, id,
                                    g_param_spec_int(name, nick, blurb, low, high, value, kFlags));
  };
  const auto add_double = [&](guint id, const char* name, const char* nick, const char* blurb,
                              double high, double value) {
    g_object_class_install_property(
        klass, id, g_param_spec_double(name, nick, blurb, 0.0, high, value, kFlags));
  };
  add_int(kPropBlockSize, "block-size", "Block size",
          "Side in pixels of the blocks that regions are made of", 16, 512, defaults.block_size);
  add_double(kPropMotionThreshold, "motion-threshold", "Motion threshold",
             "Share of a block's pixels that have to change for the block to move", 1.0,
             defaults.motion_threshold);
  add_int(kPropMinPersistence, "min-persistence", "Least persistence",
          "Frames in which a region is seen before it is attached", 1, 30,
          defaults.min_persistence);
  add_int(kPropMaxMiss, "max-miss", "Most misses",
          "Frames for which a region that is seen no more is still attached", 0, 30,
          defaults.max_miss);
  add_double(kPropIouThreshold, "iou-threshold", "Overlap",
             "Overlap (intersection over union) from which a region is the one of the frame before",
             1.0, defaults.iou_threshold);
  add_double(kPropSmoothAlpha, "smooth-alpha", "Smoothing",
             "Weight of the new place of a region; 1: no smoothing", 1.0, defaults.smooth_alpha);
  add_int(kPropConfirmFrames, "confirm-frames", "Confirmation",
          "Frames in a row for which a block has to move", 1, 10, defaults.confirm_frames);
  add_int(kPropPixelDiffThreshold, "pixel-diff-threshold", "Pixel difference",
          "Levels of luma by which a changed pixel differs from the background; more where noise "
          "is more",
          1, 255, defaults.pixel_diff_threshold);
  add_double(kPropMinRelArea, "min-rel-area", "Least area",
             "Share of the picture below which a region does not count", 0.25,
             defaults.min_rel_area);
}

static void install_gate_properties(GObjectClass* klass) {
  const MotionDetectSettings defaults;
  g_object_class_install_property(
      klass, kPropAddRegions,
      g_param_spec_boolean("add-regions", "Add regions",
                           "Attach a region of type \"motion\" for what moves",
                           defaults.add_regions, kFlags));
  g_object_class_install_property(
      klass, kPropGate,
      g_param_spec_boolean("gate", "Gate",
                           "Inference elements behind do not analyse frames in which nothing "
                           "moves; these get the last results, marked with their age",
                           defaults.gate, kFlags));
  g_object_class_install_property(
      klass, kPropGateHold,
      g_param_spec_uint("gate-hold", "Hold of the gate",
                        "With gate: frames that are analysed after the last one in which something "
                        "moved",
                        0, 1000, defaults.gate_hold, kFlags));
  g_object_class_install_property(
      klass, kPropMaxAge,
      g_param_spec_uint("max-age", "Greatest age",
                        "With gate: milliseconds after which a still frame is analysed all the "
                        "same; carried results are younger",
                        1, 3600000, defaults.max_age_ms, kFlags));
  g_object_class_install_property(
      klass, kPropStats,
      g_param_spec_boxed("stats", "Statistics",
                         "Counters since the element started: frames, frames-moving, frames-still "
                         "(marked by the gate), frames-analysed, share-still (0..1), regions, "
                         "light-changes, restarts",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void gst_hetero_motion_detect_class_init(GstHeteroMotionDetectClass* klass) {
  GST_DEBUG_CATEGORY_INIT(heteromotiondetect_debug, "heteromotiondetect", 0, "what moves");
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_motion_detect_set_property;
  object_class->get_property = gst_hetero_motion_detect_get_property;
  object_class->finalize = gst_hetero_motion_detect_finalize;
  install_motion_properties(object_class);
  install_gate_properties(object_class);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "Motion detection", "Analyzer/Video",
      "Finds what moves; frames in which nothing does need no inference", "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  het::gst::make_metadata_transform(base_class);
  base_class->start = gst_hetero_motion_detect_start;
  base_class->stop = gst_hetero_motion_detect_stop;
  base_class->set_caps = gst_hetero_motion_detect_set_caps;
  base_class->sink_event = gst_hetero_motion_detect_sink_event;
  base_class->transform_ip = gst_hetero_motion_detect_transform_ip;
}

static void gst_hetero_motion_detect_init(GstHeteroMotionDetect* self) {
  self->settings = new MotionDetectSettings();
  self->counts = new MotionDetectCounts();
  self->state = new MotionDetectState();
  gst_video_info_init(&self->info);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}
