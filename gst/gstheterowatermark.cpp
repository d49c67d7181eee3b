/**
 * SECTION:element-heterowatermark
 * @title: heterowatermark
 * @short_description: draws results on video frames
 *
 * Draws the box, label, confidence, attributes, landmarks, keypoints and segmentation of each
 * object that a frame carries into the frame, in place and in its own format.
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

#include "canvas.h"
#include "element_error.h"
#include "metadata.h"
#include "overlay.h"

struct GstHeteroWatermark {
  GstVideoFilter parent;
};

struct GstHeteroWatermarkClass {
  GstVideoFilterClass parent_class;
};

G_DEFINE_TYPE(GstHeteroWatermark, gst_hetero_watermark, GST_TYPE_VIDEO_FILTER)
GST_ELEMENT_REGISTER_DEFINE(heterowatermark, "heterowatermark", GST_RANK_NONE,
                            GST_TYPE_HETERO_WATERMARK)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                            GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(HET_GST_CANVAS_FORMATS)));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                            GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(HET_GST_CANVAS_FORMATS)));

static GstFlowReturn gst_hetero_watermark_transform_frame_ip(GstVideoFilter* filter,
                                                             GstVideoFrame* frame) {
  const std::vector<het::gst::FrameObject> objects = het::gst::frame_objects(
      frame->buffer, GST_VIDEO_FRAME_WIDTH(frame), GST_VIDEO_FRAME_HEIGHT(frame));
  if (objects.empty()) return GST_FLOW_OK;
  try {
    het::gst::Canvas canvas(*frame);
    het::gst::draw_objects(canvas, objects);
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

static void gst_hetero_watermark_class_init(GstHeteroWatermarkClass* klass) {
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Draw results", "Filter/Effect/Video",
                                        "Draws boxes, labels, attributes and landmarks on frames",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  GST_VIDEO_FILTER_CLASS(klass)->transform_frame_ip = gst_hetero_watermark_transform_frame_ip;
}

static void gst_hetero_watermark_init(GstHeteroWatermark*) {}
