/**
 * SECTION:element-heteroclassify
 * @title: heteroclassify
 * @short_description: names attributes of detected objects
 *
 * Runs a classification model on each region of interest that a frame carries (or on the whole
 * frame, see #inference-region) and attaches the result to that region's
 * GstVideoRegionOfInterestMeta. The property object-class limits it to some classes.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterodetect model=pipelines/demo/models/scene_detector.onnx \
 *   model-proc=pipelines/demo/models/scene_detector.json ! \
 *   heteroclassify model=pipelines/demo/models/scene_attributes.onnx \
 *   model-proc=pipelines/demo/models/scene_attributes.json object-class=car,truck ! \
 *   fakesink
 * ]|
 */
#include "gstheteroclassify.h"

#include "gstheteroinferencebase.h"

struct GstHeteroClassify {
  GstHeteroInferenceBase parent;
};

struct GstHeteroClassifyClass {
  GstHeteroInferenceBaseClass parent_class;
};

G_DEFINE_TYPE(GstHeteroClassify, gst_hetero_classify, GST_TYPE_HETERO_INFERENCE_BASE)
GST_ELEMENT_REGISTER_DEFINE(heteroclassify, "heteroclassify", GST_RANK_NONE,
                            GST_TYPE_HETERO_CLASSIFY)

static void gst_hetero_classify_class_init(GstHeteroClassifyClass* klass) {
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Object classification", "Filter/Analyzer/Video",
      "Names attributes of detected objects with a neural network, on one device or split over "
      "several",
      "gst-hetero maintainers");
  gst_hetero_inference_base_class_install(reinterpret_cast<GstHeteroInferenceBaseClass*>(klass),
                                          het::gst::kInferenceRegionRoiList,
                                          /*with_threshold=*/false);
  het::gst::install_classify_properties(G_OBJECT_CLASS(klass));
}

static void gst_hetero_classify_init(GstHeteroClassify* self) {
  GST_HETERO_INFERENCE_BASE(self)->settings->region = het::gst::kInferenceRegionRoiList;
}
