#pragma once

#include <gst/video/video.h>

#include "gst/analysis/inference_settings.h"

/// What the inference elements have in common: pads, properties, requests in flight, order. Not a
/// GstBaseTransform, because a frame leaves on another thread, later than it came.
#define GST_TYPE_HETERO_INFERENCE_BASE (gst_hetero_inference_base_get_type())
#define GST_HETERO_INFERENCE_BASE(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_INFERENCE_BASE, GstHeteroInferenceBase))

struct GstHeteroInferenceState;

struct GstHeteroInferenceBase {
  GstElement parent;
  GstPad* sinkpad;
  GstPad* srcpad;
  het::gst::InferenceSettings* settings;  ///< protected by the object lock
  GstHeteroInferenceState* state;
};

struct GstHeteroInferenceBaseClass {
  GstElementClass parent_class;
  gboolean finds_objects;  ///< a detector
};

GType gst_hetero_inference_base_get_type();

/// Installs the shared properties and `stats`; called from class_init of each element.
void gst_hetero_inference_base_class_install(GstHeteroInferenceBaseClass* klass,
                                             het::gst::InferenceRegion default_region,
                                             bool with_threshold);
