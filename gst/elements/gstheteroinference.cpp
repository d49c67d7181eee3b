/**
 * SECTION:element-heteroinference
 * @title: heteroinference
 * @short_description: attaches the outputs of a model as tensors
 *
 * Runs any model with a picture input on each frame, or with inference-region=roi-list on each
 * region of interest that a frame carries, and attaches its outputs as they are: params "tensor" of
 * the region, which heterometaconvert add-tensor-data=true writes. Results are not interpreted; a
 * model-proc file may still say how pictures get into the model, which outputs are wanted and what
 * they are called.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heteroinference model=pipelines/demo/models/scene_attributes.onnx ! \
 *   heterometaconvert add-tensor-data=true ! heterometapublish file-format=json-lines ! \
 *   fakesink
 * ]|
 */
#include "gstheteroinference.h"

#include "gstheteroinferencebase.h"

struct GstHeteroInference {
  GstHeteroInferenceBase parent;
};

struct GstHeteroInferenceClass {
  GstHeteroInferenceBaseClass parent_class;
};

G_DEFINE_TYPE(GstHeteroInference, gst_hetero_inference, GST_TYPE_HETERO_INFERENCE_BASE)
GST_ELEMENT_REGISTER_DEFINE(heteroinference, "heteroinference", GST_RANK_NONE,
                            GST_TYPE_HETERO_INFERENCE)

static void gst_hetero_inference_class_init(GstHeteroInferenceClass* klass) {
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Inference", "Filter/Analyzer/Video",
      "Attaches the outputs of a neural network as tensors, on one device or split over several",
      "gst-hetero maintainers");
  gst_hetero_inference_base_class_install(reinterpret_cast<GstHeteroInferenceBaseClass*>(klass),
                                          het::gst::kInferenceRegionFullFrame,
                                          /*with_threshold=*/false);
}

static void gst_hetero_inference_init(GstHeteroInference* self) {
  GST_HETERO_INFERENCE_BASE(self)->settings->copy_outputs = true;
}
