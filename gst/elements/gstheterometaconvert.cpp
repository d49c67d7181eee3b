/**
 * SECTION:element-heterometaconvert
 * @title: heterometaconvert
 * @short_description: writes the results on a frame as JSON
 *
 * Attaches one JSON message (GstHeteroJsonMeta) to each frame that carries objects, with the keys
 * of DL Streamer's gvametaconvert. heterometapublish sends it.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heterometaconvert source=test-picture tags="{\"camera\":1}" add-empty-results=true \
 *   json-indent=2 ! heterometapublish ! fakesink
 * ]|
 */
#include "gstheterometaconvert.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <fmt/format.h>

#include <optional>
#include <string>

#include "gst/measuring/element_error.h"
#include "gst/messages/frame_json.h"
#include "gst/messages/json_meta.h"
#include "gst/metadata/metadata.h"
#include "metadata_transform.h"

GST_DEBUG_CATEGORY_STATIC(heterometaconvert_debug);
#define GST_CAT_DEFAULT heterometaconvert_debug

enum {
  kPropFormat = 1,
  kPropAddTensorData,
  kPropSource,
  kPropTags,
  kPropAddEmptyResults,
  kPropJsonIndent,
  kPropSignalHandoffs,
  kPropTimestampUtc,
  kPropTimestampMicroseconds,
  kPropAddRtpTimestamp,
};

enum { kFormatJson, kFormatDumpDetection };

static guint handoff_signal = 0;

struct MetaConvertSettings {
  int format = kFormatJson;
  bool add_tensor_data = false;
  std::string source;
  std::string tags;
  bool add_empty_results = false;
  int json_indent = -1;
  bool signal_handoffs = false;
  bool timestamp_utc = false;
  bool timestamp_microseconds = false;
  bool add_rtp_timestamp = false;
};

struct GstHeteroMetaConvert {
  GstBaseTransform parent;
  MetaConvertSettings* settings;  ///< protected by the object lock
  GstVideoInfo info;              ///< streaming thread
};

struct GstHeteroMetaConvertClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_META_CONVERT(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_META_CONVERT, GstHeteroMetaConvert))

G_DEFINE_TYPE(GstHeteroMetaConvert, gst_hetero_meta_convert, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heterometaconvert, "heterometaconvert", GST_RANK_NONE,
                            GST_TYPE_HETERO_META_CONVERT)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));

static GType format_type() {
  static const GEnumValue values[] = {{kFormatJson, "JSON with gvametaconvert's keys", "json"},
                                      {kFormatDumpDetection,
                                       "A line for each object in the log, no message: "
                                       "GST_DEBUG=heterometaconvert:4",
                                       "dump-detection"},
                                      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroMetaConvertFormat", values);
  return type;
}

static gboolean gst_hetero_meta_convert_set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  return gst_video_info_from_caps(&GST_HETERO_META_CONVERT(base)->info, caps);
}

static gboolean gst_hetero_meta_convert_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_META_CONVERT(base);
  GST_OBJECT_LOCK(self);
  const std::string tags = self->settings->tags;
  GST_OBJECT_UNLOCK(self);
  if (tags.empty()) return TRUE;
  const het::Status status = het::gst::check_json(tags).with_context("property tags");
  if (status.ok()) return TRUE;
  het::gst::post_error(GST_ELEMENT(self), status);
  return FALSE;
}

/// When the frame was taken, by its time code (timecodestamper), in ISO 8601; empty without one.
static std::string system_timestamp(GstBuffer* buffer, const MetaConvertSettings& settings) {
  const GstVideoTimeCodeMeta* code = gst_buffer_get_video_time_code_meta(buffer);
  GDateTime* taken = code ? gst_video_time_code_to_date_time(&code->tc) : nullptr;
  if (!taken) return "";
  GDateTime* shown = settings.timestamp_utc ? g_date_time_to_utc(taken) : g_date_time_ref(taken);
  gchar* whole = g_date_time_format(shown, "%Y-%m-%dT%H:%M:%S");
  gchar* zone = g_date_time_format(shown, settings.timestamp_utc ? "Z" : ":%z");
  const int microseconds = g_date_time_get_microsecond(shown);
  const std::string text = settings.timestamp_microseconds
                               ? fmt::format("{}.{:06}{}", whole, microseconds, zone)
                               : fmt::format("{}.{:03}{}", whole, microseconds / 1000, zone);
  g_free(zone);
  g_free(whole);
  g_date_time_unref(shown);
  g_date_time_unref(taken);
  return text;
}

/// The sender's clock, as rtspsrc add-reference-timestamp-meta=true leaves it, in ns since 1970.
static std::optional<uint64_t> sender_time(GstBuffer* buffer) {
  constexpr guint64 kFrom1900To1970 = G_GUINT64_CONSTANT(2208988800) * GST_SECOND;
  static GstStaticCaps ntp = GST_STATIC_CAPS("timestamp/x-ntp");
  GstCaps* caps = gst_static_caps_get(&ntp);
  const GstReferenceTimestampMeta* meta = gst_buffer_get_reference_timestamp_meta(buffer, caps);
  gst_caps_unref(caps);
  if (!meta || !GST_CLOCK_TIME_IS_VALID(meta->timestamp) || meta->timestamp < kFrom1900To1970)
    return std::nullopt;
  return meta->timestamp - kFrom1900To1970;
}

static void dump_objects(GstHeteroMetaConvert* self, GstClockTime time,
                         const std::vector<het::gst::FrameObject>& objects) {
  for (const het::gst::FrameObject& object : objects) {
    const auto& found = object.detection;
    GST_INFO_OBJECT(self, "%" GST_TIME_FORMAT " %s id %d confidence %.2f at (%d,%d) %dx%d",
                    GST_TIME_ARGS(time), object.type.c_str(),
                    found ? static_cast<int>(found->label_id.value_or(-1)) : -1,
                    found ? found->confidence.value_or(0.0) : 0.0, object.rect.x, object.rect.y,
                    object.rect.width, object.rect.height);
  }
}

static GstFlowReturn gst_hetero_meta_convert_transform_ip(GstBaseTransform* base,
                                                          GstBuffer* buffer) {
  auto* self = GST_HETERO_META_CONVERT(base);
  GST_OBJECT_LOCK(self);
  const MetaConvertSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  if (settings.signal_handoffs) {
    g_signal_emit(self, handoff_signal, 0, buffer);
    return GST_FLOW_OK;
  }
  const std::vector<het::gst::FrameObject> objects = het::gst::frame_objects(
      buffer, GST_VIDEO_INFO_WIDTH(&self->info), GST_VIDEO_INFO_HEIGHT(&self->info));
  if (settings.format == kFormatDumpDetection) {
    dump_objects(self, GST_BUFFER_PTS(buffer), objects);
    return GST_FLOW_OK;
  }
  if (objects.empty() && !settings.add_empty_results) return GST_FLOW_OK;

  het::gst::FrameDescription frame;
  frame.width = GST_VIDEO_INFO_WIDTH(&self->info);
  frame.height = GST_VIDEO_INFO_HEIGHT(&self->info);
  frame.source = settings.source;
  frame.tags_json = settings.tags;
  frame.system_timestamp = system_timestamp(buffer, settings);
  if (settings.add_rtp_timestamp) frame.sender_time_ns = sender_time(buffer);
  frame.add_tensor_data = settings.add_tensor_data;
  frame.zones = het::gst::read_zone_record(buffer);
  const guint64 time =
      base->segment.format == GST_FORMAT_TIME
          ? gst_segment_to_stream_time(&base->segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer))
          : GST_CLOCK_TIME_NONE;
  if (GST_CLOCK_TIME_IS_VALID(time)) frame.timestamp_ns = time;
  const std::string message = het::gst::frame_to_json(frame, objects, settings.json_indent);
  GST_INFO_OBJECT(self, "%s", message.c_str());
  het::gst::add_json_message(buffer, message);
  return GST_FLOW_OK;
}

static void gst_hetero_meta_convert_set_property(GObject* object, guint id, const GValue* value,
                                                 GParamSpec* spec) {
  auto* self = GST_HETERO_META_CONVERT(object);
  const auto text = [value] {
    const char* given = g_value_get_string(value);
    return std::string(given ? given : "");
  };
  GST_OBJECT_LOCK(self);
  switch (id) {
    case kPropFormat:
      self->settings->format = g_value_get_enum(value);
      break;
    case kPropAddTensorData:
      self->settings->add_tensor_data = g_value_get_boolean(value);
      break;
    case kPropSource:
      self->settings->source = text();
      break;
    case kPropTags:
      self->settings->tags = text();
      break;
    case kPropAddEmptyResults:
      self->settings->add_empty_results = g_value_get_boolean(value);
      break;
    case kPropJsonIndent:
      self->settings->json_indent = g_value_get_int(value);
      break;
    case kPropSignalHandoffs:
      self->settings->signal_handoffs = g_value_get_boolean(value);
      break;
    case kPropTimestampUtc:
      self->settings->timestamp_utc = g_value_get_boolean(value);
      break;
    case kPropTimestampMicroseconds:
      self->settings->timestamp_microseconds = g_value_get_boolean(value);
      break;
    case kPropAddRtpTimestamp:
      self->settings->add_rtp_timestamp = g_value_get_boolean(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_meta_convert_get_property(GObject* object, guint id, GValue* value,
                                                 GParamSpec* spec) {
  auto* self = GST_HETERO_META_CONVERT(object);
  GST_OBJECT_LOCK(self);
  switch (id) {
    case kPropFormat:
      g_value_set_enum(value, self->settings->format);
      break;
    case kPropAddTensorData:
      g_value_set_boolean(value, self->settings->add_tensor_data);
      break;
    case kPropSource:
      g_value_set_string(value, self->settings->source.c_str());
      break;
    case kPropTags:
      g_value_set_string(value, self->settings->tags.c_str());
      break;
    case kPropAddEmptyResults:
      g_value_set_boolean(value, self->settings->add_empty_results);
      break;
    case kPropJsonIndent:
      g_value_set_int(value, self->settings->json_indent);
      break;
    case kPropSignalHandoffs:
      g_value_set_boolean(value, self->settings->signal_handoffs);
      break;
    case kPropTimestampUtc:
      g_value_set_boolean(value, self->settings->timestamp_utc);
      break;
    case kPropTimestampMicroseconds:
      g_value_set_boolean(value, self->settings->timestamp_microseconds);
      break;
    case kPropAddRtpTimestamp:
      g_value_set_boolean(value, self->settings->add_rtp_timestamp);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_meta_convert_finalize(GObject* object) {
  delete GST_HETERO_META_CONVERT(object)->settings;
  G_OBJECT_CLASS(gst_hetero_meta_convert_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_PLAYING);
  const auto at_start = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                 GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, kPropFormat,
      g_param_spec_enum("format", "Format", "Format of the messages", format_type(), 0, flags));
  g_object_class_install_property(
      klass, kPropAddTensorData,
      g_param_spec_boolean("add-tensor-data", "Add tensor data",
                           "Write tensors, keypoints and segmentations with all their values",
                           FALSE, flags));
  g_object_class_install_property(
      klass, kPropSource,
      g_param_spec_string("source", "Source",
                          "Names where the frames come from; the key source of each message",
                          nullptr, flags));
  g_object_class_install_property(
      klass, kPropTags,
      g_param_spec_string("tags", "Tags", "A JSON object that each message has under the key tags",
                          nullptr, at_start));
  g_object_class_install_property(
      klass, kPropAddEmptyResults,
      g_param_spec_boolean("add-empty-results", "Add empty results",
                           "Write a message for frames without objects too", FALSE, flags));
  g_object_class_install_property(
      klass, kPropJsonIndent,
      g_param_spec_int("json-indent", "Indentation",
                       "Spaces for each level of nesting; -1 = the whole message on one line", -1,
                       10, -1, flags));
  const auto flag = [&](guint id, const char* name, const char* nick, const char* blurb) {
    g_object_class_install_property(klass, id,
                                    g_param_spec_boolean(name, nick, blurb, FALSE, flags));
  };
  flag(kPropSignalHandoffs, "signal-handoffs", "Signal handoffs",
       "Emit the signal handoff for each frame instead of writing a message");
  flag(kPropTimestampUtc, "timestamp-utc", "UTC timestamp",
       "system_timestamp, from the time code of timecodestamper, is in UTC");
  flag(kPropTimestampMicroseconds, "timestamp-microseconds", "Microseconds",
       "system_timestamp has microseconds instead of milliseconds");
  flag(kPropAddRtpTimestamp, "add-rtp-timestamp", "RTP sender's time",
       "Write the sender's time, which needs rtspsrc add-reference-timestamp-meta=true");
}

static void gst_hetero_meta_convert_class_init(GstHeteroMetaConvertClass* klass) {
  GST_DEBUG_CATEGORY_INIT(heterometaconvert_debug, "heterometaconvert", 0, "results to JSON");
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_meta_convert_set_property;
  object_class->get_property = gst_hetero_meta_convert_get_property;
  object_class->finalize = gst_hetero_meta_convert_finalize;
  install_properties(object_class);
  handoff_signal =
      g_signal_new("handoff", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, nullptr, nullptr,
                   nullptr, G_TYPE_NONE, 1, GST_TYPE_BUFFER | G_SIGNAL_TYPE_STATIC_SCOPE);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Results to JSON", "Filter/Metadata/Video",
                                        "Writes the objects that a frame carries as a JSON message",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  het::gst::make_metadata_transform(base_class);
  base_class->start = gst_hetero_meta_convert_start;
  base_class->set_caps = gst_hetero_meta_convert_set_caps;
  base_class->transform_ip = gst_hetero_meta_convert_transform_ip;
}

static void gst_hetero_meta_convert_init(GstHeteroMetaConvert* self) {
  self->settings = new MetaConvertSettings();
  gst_video_info_init(&self->info);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}
