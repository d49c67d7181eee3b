/**
 * SECTION:element-heteroattachroi
 * @title: heteroattachroi
 * @short_description: attaches regions of interest to frames
 *
 * Attaches the region #roi to every frame, or those of a JSON file (what heterometaconvert and
 * heterometapublish wrote, for example), or, with neither, the whole picture. Inference elements
 * with inference-region=roi-list then analyse these. Pixels are not looked at.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heteroattachroi roi=0,0,320,360 ! \
 *   heterodetect inference-region=roi-list model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heterometaconvert ! heterometapublish ! fakesink
 * ]|
 */
#include "gstheteroattachroi.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gst/analysis/region_list.h"
#include "gst/measuring/element_error.h"
#include "metadata_transform.h"

enum { kPropRoi = 1, kPropFilePath, kPropMode };
enum AttachMode { kInOrder, kInLoop, kByTimestamp };

struct AttachSettings {
  std::string roi;
  std::string file_path;
  int mode = kInOrder;
};

/// From start to stop; streaming thread.
struct AttachState {
  std::vector<het::gst::ListedRegion> fixed;
  std::optional<het::gst::RegionList> list;
  int mode = kInOrder;
  size_t frame = 0;
};

struct GstHeteroAttachRoi {
  GstBaseTransform parent;
  AttachSettings* settings;  ///< protected by the object lock
  AttachState* state;
  GstVideoInfo info;  ///< streaming thread
};

struct GstHeteroAttachRoiClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_ATTACH_ROI(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_ATTACH_ROI, GstHeteroAttachRoi))

G_DEFINE_TYPE(GstHeteroAttachRoi, gst_hetero_attach_roi, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heteroattachroi, "heteroattachroi", GST_RANK_NONE,
                            GST_TYPE_HETERO_ATTACH_ROI)

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(HET_GST_ANY_VIDEO));

static GType attach_mode_type() {
  static const GEnumValue values[] = {
      {kInOrder, "The n-th entry of the file for the n-th frame", "in-order"},
      {kInLoop, "The same, again from the first entry after the last", "in-loop"},
      {kByTimestamp, "The entry whose timestamp is the frame's stream time", "timestamp"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroAttachRoiMode", values);
  return type;
}

static het::Status load(const AttachSettings& settings, AttachState& state) {
  state = AttachState();
  state.mode = settings.mode;
  if (!settings.roi.empty()) {
    auto rect = het::gst::parse_region(settings.roi);
    if (!rect) return het::Status(rect.error()).with_context("property roi");
    state.fixed.push_back({*rect, "", std::nullopt, std::nullopt});
  }
  if (settings.file_path.empty()) return {};
  auto list = het::gst::RegionList::read(settings.file_path, settings.mode == kByTimestamp);
  if (!list) return het::Status(list.error()).with_context("property file-path");
  state.list = std::move(*list);
  return {};
}

static gboolean gst_hetero_attach_roi_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_ATTACH_ROI(base);
  GST_OBJECT_LOCK(self);
  const AttachSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  const het::Status status = load(settings, *self->state);
  if (!status.ok()) het::gst::post_error(GST_ELEMENT(self), status);
  return status.ok();
}

static gboolean gst_hetero_attach_roi_set_caps(GstBaseTransform* base, GstCaps* caps, GstCaps*) {
  return gst_video_info_from_caps(&GST_HETERO_ATTACH_ROI(base)->info, caps);
}

static const std::vector<het::gst::ListedRegion>* listed_regions(GstHeteroAttachRoi* self,
                                                                 GstBuffer* buffer) {
  AttachState& state = *self->state;
  const size_t frame = state.frame++;
  if (!state.list || state.list->frame_count() == 0) return nullptr;
  if (state.mode == kByTimestamp) {
    const GstSegment& segment = GST_BASE_TRANSFORM(self)->segment;
    if (segment.format != GST_FORMAT_TIME) return nullptr;
    return state.list->regions_at(
        gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, GST_BUFFER_PTS(buffer)));
  }
  if (state.mode == kInLoop) return &state.list->regions(frame % state.list->frame_count());
  return frame < state.list->frame_count() ? &state.list->regions(frame) : nullptr;
}

static GstFlowReturn gst_hetero_attach_roi_transform_ip(GstBaseTransform* base, GstBuffer* buffer) {
  auto* self = GST_HETERO_ATTACH_ROI(base);
  AttachState& state = *self->state;
  het::gst::attach_regions(buffer, self->info, state.fixed);
  if (const auto* regions = listed_regions(self, buffer)) {
    het::gst::attach_regions(buffer, self->info, *regions);
  } else if (!state.list && state.fixed.empty()) {
    het::gst::ListedRegion whole;
    whole.rect = {0, 0, GST_VIDEO_INFO_WIDTH(&self->info), GST_VIDEO_INFO_HEIGHT(&self->info)};
    het::gst::attach_regions(buffer, self->info, {whole});
  }
  return GST_FLOW_OK;
}

static void gst_hetero_attach_roi_set_property(GObject* object, guint id, const GValue* value,
                                               GParamSpec* spec) {
  auto* self = GST_HETERO_ATTACH_ROI(object);
  GST_OBJECT_LOCK(self);
  if (id == kPropMode) {
    self->settings->mode = g_value_get_enum(value);
  } else if (id == kPropRoi || id == kPropFilePath) {
    const char* text = g_value_get_string(value);
    (id == kPropRoi ? self->settings->roi : self->settings->file_path) = text ? text : "";
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_attach_roi_get_property(GObject* object, guint id, GValue* value,
                                               GParamSpec* spec) {
  auto* self = GST_HETERO_ATTACH_ROI(object);
  GST_OBJECT_LOCK(self);
  if (id == kPropMode) {
    g_value_set_enum(value, self->settings->mode);
  } else if (id == kPropRoi || id == kPropFilePath) {
    g_value_set_string(value,
                       (id == kPropRoi ? self->settings->roi : self->settings->file_path).c_str());
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_attach_roi_finalize(GObject* object) {
  auto* self = GST_HETERO_ATTACH_ROI(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_attach_roi_parent_class)->finalize(object);
}

static void gst_hetero_attach_roi_class_init(GstHeteroAttachRoiClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_attach_roi_set_property;
  object_class->get_property = gst_hetero_attach_roi_get_property;
  object_class->finalize = gst_hetero_attach_roi_finalize;
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      object_class, kPropRoi,
      g_param_spec_string("roi", "Region",
                          "A region for every frame, in pixels: "
                          "x_top_left,y_top_left,x_bottom_right,y_bottom_right",
                          nullptr, flags));
  g_object_class_install_property(
      object_class, kPropFilePath,
      g_param_spec_string("file-path", "File",
                          "Path of a JSON file with the regions of each frame: an array whose "
                          "entries have \"objects\" with x, y, w, h or a detection",
                          nullptr, flags));
  g_object_class_install_property(
      object_class, kPropMode,
      g_param_spec_enum("mode", "Mode", "Which entry of the file belongs to which frame",
                        attach_mode_type(), kInOrder, flags));
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Regions to frames", "Filter/Metadata/Video",
                                        "Attaches given regions of interest to frames",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  het::gst::make_metadata_transform(base_class);
  base_class->start = gst_hetero_attach_roi_start;
  base_class->set_caps = gst_hetero_attach_roi_set_caps;
  base_class->transform_ip = gst_hetero_attach_roi_transform_ip;
}

static void gst_hetero_attach_roi_init(GstHeteroAttachRoi* self) {
  self->settings = new AttachSettings();
  self->state = new AttachState();
  gst_video_info_init(&self->info);
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(self), TRUE);
}
