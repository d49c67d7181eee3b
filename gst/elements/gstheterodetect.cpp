/**
 * SECTION:element-heterodetect
 * @title: heterodetect
 * @short_description: finds objects in video frames
 *
 * Runs a detection model on each frame and attaches a GstVideoRegionOfInterestMeta for every object
 * that it finds. Several requests are in flight; frames and events leave in the order in which they
 * came.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heterometaconvert add-empty-results=true ! heterometapublish ! \
 *   fakesink
 * ]|
 */
#include "gstheterodetect.h"

#include "gstheteroinferencebase.h"

struct GstHeteroDetect {
  GstHeteroInferenceBase parent;
};

struct GstHeteroDetectClass {
  GstHeteroInferenceBaseClass parent_class;
};

G_DEFINE_TYPE(GstHeteroDetect, gst_hetero_detect, GST_TYPE_HETERO_INFERENCE_BASE)
GST_ELEMENT_REGISTER_DEFINE(heterodetect, "heterodetect", GST_RANK_NONE, GST_TYPE_HETERO_DETECT)

static void gst_hetero_detect_class_init(GstHeteroDetectClass* klass) {
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Object detection", "Filter/Analyzer/Video",
      "Finds objects in video frames with a neural network, on one device or split over several",
      "gst-hetero maintainers");
  gst_hetero_inference_base_class_install(reinterpret_cast<GstHeteroInferenceBaseClass*>(klass),
                                          het::gst::kInferenceRegionFullFrame,
                                          /*with_threshold=*/true);
}

static void gst_hetero_detect_init(GstHeteroDetect*) {}
