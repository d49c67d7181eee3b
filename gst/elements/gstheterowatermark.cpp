/**
 * SECTION:element-heterowatermark
 * @title: heterowatermark
 * @short_description: draws results on video frames
 *
 * Draws the box, label, confidence, attributes, landmarks, keypoints and segmentation of each
 * object that a frame carries into the frame, and the zones and tripwires that heteroanalytics
 * leaves on it, in place and in its own format. Texts are UTF-8, in
 * any script that an installed font has; a character that none has is a box with its code, and what
 * is no UTF-8 a replacement character.
 *
 * As GStreamer's video filters it drops frames that a sink says come too late, unless `qos` is
 * false.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heterowatermark ! videoconvert ! fakesink
 * ]|
 */
#include "gstheterowatermark.h"

#include <gst/video/gstvideofilter.h>

#include <fmt/format.h>

#include <string>
#include <utility>

#include "gst/drawing/canvas.h"
#include "gst/drawing/overlay.h"
#include "gst/drawing/overlay_style.h"
#include "gst/drawing/text_renderer.h"
#include "gst/drawing/zone_overlay.h"
#include "gst/measuring/element_error.h"
#include "gst/metadata/metadata.h"
#include "gst/metadata/zone_record.h"
#include "pipeline_top.h"

enum { kPropDevice = 1, kPropObb, kPropAverageFps, kPropConfig };

struct WatermarkSettings {
  std::string device;
  std::string config;
  bool obb = true;
  bool average_fps = false;
};

struct GstHeteroWatermark {
  GstVideoFilter parent;
  WatermarkSettings* settings;    ///< protected by the object lock
  het::gst::OverlayStyle* style;  ///< from start on; streaming thread
  het::gst::TextRenderer* texts;  ///< the same; null without texts
  bool shows_average_fps;         ///< the same
};

struct GstHeteroWatermarkClass {
  GstVideoFilterClass parent_class;
};

#define GST_HETERO_WATERMARK(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_WATERMARK, GstHeteroWatermark))

G_DEFINE_TYPE(GstHeteroWatermark, gst_hetero_watermark, GST_TYPE_VIDEO_FILTER)
GST_ELEMENT_REGISTER_DEFINE(heterowatermark, "heterowatermark", GST_RANK_NONE,
                            GST_TYPE_HETERO_WATERMARK)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                            GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(HET_GST_CANVAS_FORMATS)));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                            GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(HET_GST_CANVAS_FORMATS)));

static gboolean gst_hetero_watermark_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_WATERMARK(base);
  GST_OBJECT_LOCK(self);
  const WatermarkSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  auto style = het::gst::parse_overlay_style(settings.config);
  if (!style) {
    het::gst::post_error(GST_ELEMENT(self), style.error().with_context("property displ-cfg"));
    return FALSE;
  }
  *self->style = std::move(*style);
  self->style->turned = settings.obb;
  self->shows_average_fps = settings.average_fps;
  if (self->style->show_labels || !self->style->frame_text.empty() || settings.average_fps) {
    auto texts = het::gst::TextRenderer::create();
    if (!texts) {
      het::gst::post_error(GST_ELEMENT(self), texts.error());
      return FALSE;
    }
    self->texts = texts->release();
  }
  if (!settings.device.empty() && settings.device != "CPU") {
    GST_ELEMENT_WARNING(self, LIBRARY, SETTINGS,
                        ("device=%s is not used: results are drawn on the CPU, in the frame's own "
                         "format.",
                         settings.device.c_str()),
                        (nullptr));
  }
  return TRUE;
}

static gboolean gst_hetero_watermark_stop(GstBaseTransform* base) {
  auto* self = GST_HETERO_WATERMARK(base);
  delete self->texts;
  self->texts = nullptr;
  return TRUE;
}

/// What a heterofpscounter of the pipeline counts; empty where there is none.
static std::string average_fps(GstElement* element) {
  GstObject* const top = het::gst::pipeline_top(element);
  std::string text;
  if (GST_IS_BIN(top)) {
    GstIterator* counters =
        gst_bin_iterate_all_by_element_factory_name(GST_BIN(top), "heterofpscounter");
    GValue item = G_VALUE_INIT;
    if (gst_iterator_next(counters, &item) == GST_ITERATOR_OK) {
      gfloat fps = 0.0f;
      g_object_get(g_value_get_object(&item), "avg-fps", &fps, nullptr);
      text = fmt::format("avg fps {:.2f}", fps);
      g_value_unset(&item);
    }
    gst_iterator_free(counters);
  }
  gst_object_unref(top);
  return text;
}

static GstFlowReturn gst_hetero_watermark_transform_frame_ip(GstVideoFilter* filter,
                                                             GstVideoFrame* frame) {
  const std::vector<het::gst::FrameObject> objects = het::gst::frame_objects(
      frame->buffer, GST_VIDEO_FRAME_WIDTH(frame), GST_VIDEO_FRAME_HEIGHT(frame));
  auto* self = GST_HETERO_WATERMARK(filter);
  const het::gst::OverlayStyle& style = *self->style;
  std::string text = style.frame_text;
  if (self->shows_average_fps) {
    text += (text.empty() ? "" : " ") + average_fps(GST_ELEMENT(filter));
  }
  const het::gst::ZoneRecord zones = het::gst::read_zone_record(frame->buffer);
  if (objects.empty() && text.empty() && zones.empty()) return GST_FLOW_OK;
  try {
    het::gst::Canvas canvas(*frame);
    het::gst::draw_zones(canvas, self->texts, zones, style);
    het::gst::draw_objects(canvas, self->texts, objects, style);
    if (self->texts) het::gst::draw_frame_text(canvas, *self->texts, text, style);
  } catch (const std::exception& failure) {  // OpenCV reports by exceptions
    const het::Status status =
        het::error(het::StatusCode::Internal, "OpenCV cannot draw on a {} picture of {}x{}: {}",
                   gst_video_format_to_string(GST_VIDEO_FRAME_FORMAT(frame)),
                   GST_VIDEO_FRAME_WIDTH(frame), GST_VIDEO_FRAME_HEIGHT(frame), failure.what());
    het::gst::post_error(GST_ELEMENT(filter), status);
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

static void gst_hetero_watermark_set_property(GObject* object, guint id, const GValue* value,
                                              GParamSpec* spec) {
  auto* self = GST_HETERO_WATERMARK(object);
  const auto text = [value] {
    const char* given = g_value_get_string(value);
    return std::string(given ? given : "");
  };
  GST_OBJECT_LOCK(self);
  if (id == kPropDevice) {
    self->settings->device = text();
  } else if (id == kPropConfig) {
    self->settings->config = text();
  } else if (id == kPropObb) {
    self->settings->obb = g_value_get_boolean(value);
  } else if (id == kPropAverageFps) {
    self->settings->average_fps = g_value_get_boolean(value);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_watermark_get_property(GObject* object, guint id, GValue* value,
                                              GParamSpec* spec) {
  auto* self = GST_HETERO_WATERMARK(object);
  GST_OBJECT_LOCK(self);
  if (id == kPropDevice) {
    g_value_set_string(value, self->settings->device.c_str());
  } else if (id == kPropConfig) {
    g_value_set_string(value, self->settings->config.c_str());
  } else if (id == kPropObb) {
    g_value_set_boolean(value, self->settings->obb);
  } else if (id == kPropAverageFps) {
    g_value_set_boolean(value, self->settings->average_fps);
  } else {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_watermark_finalize(GObject* object) {
  auto* self = GST_HETERO_WATERMARK(object);
  delete self->style;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_watermark_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, kPropDevice,
      g_param_spec_string("device", "Device", "Always the CPU; anything else is warned about", "",
                          flags));
  g_object_class_install_property(
      klass, kPropObb,
      g_param_spec_boolean("obb", "Turned boxes",
                           "Draw turned boxes turned; false = the upright rectangles around them",
                           TRUE, flags));
  g_object_class_install_property(
      klass, kPropAverageFps,
      g_param_spec_boolean("displ-avgfps", "Display the frame rate",
                           "Write the average of the pipeline's first heterofpscounter on frames",
                           FALSE, flags));
  g_object_class_install_property(
      klass, kPropConfig,
      g_param_spec_string(
          "displ-cfg", "Style",
          "KEY=VALUE,KEY=VALUE: show-labels, draw-txt-bg, enable-blur (true or false), font-scale "
          "(0.1..2), font-type (simplex, plain, duplex: sans; complex, triplex, complex_small: "
          "serif; "
          "script_simplex, script_complex: cursive), thickness (pixels), color-idx (0 red, 1 "
          "green, 2 blue, "
          "-1 by class), show-roi, hide-roi, show-blur-roi, hide-blur-roi (labels, "
          "colon-separated), text-x, text-y and ff-custom-txt (a text of the frame and its place)",
          "", flags));
}

static void gst_hetero_watermark_class_init(GstHeteroWatermarkClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_watermark_set_property;
  object_class->get_property = gst_hetero_watermark_get_property;
  object_class->finalize = gst_hetero_watermark_finalize;
  install_properties(object_class);
  GST_BASE_TRANSFORM_CLASS(klass)->start = gst_hetero_watermark_start;
  GST_BASE_TRANSFORM_CLASS(klass)->stop = gst_hetero_watermark_stop;
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Draw results", "Filter/Effect/Video",
                                        "Draws boxes, labels, attributes and landmarks on frames",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  GST_VIDEO_FILTER_CLASS(klass)->transform_frame_ip = gst_hetero_watermark_transform_frame_ip;
}

static void gst_hetero_watermark_init(GstHeteroWatermark* self) {
  self->settings = new WatermarkSettings();
  self->style = new het::gst::OverlayStyle();
}
