#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include "gst/frames/picture_source.h"
#include "gst/metadata/region_meta.h"
#include "inference/base/status.h"
#include "inference/vision_model.h"

namespace het::gst {

/// Values of the property metadata-form.
enum MetadataFormChoice { kMetadataAuto, kMetadataRegionOfInterest, kMetadataAnalytics };

/// Which parts of a frame are analysed.
enum InferenceRegion { kInferenceRegionFullFrame, kInferenceRegionRoiList };

/// What becomes of the buffer of a late frame.
enum LateFrames { kLateFramesKeep, kLateFramesDrop };

/// Values of the property scheduling-policy.
enum SchedulingPolicy { kSchedulingThroughput, kSchedulingLatency };

/// What the user set on an inference element; DL Streamer's property names and defaults.
struct InferenceSettings {
  // Read when the element goes to PAUSED.
  std::string model;
  std::string model_proc;
  std::string device = "CPU";
  std::string ie_config;
  std::string labels;
  std::string labels_file;
  std::string model_instance_id;
  std::string custom_library;
  std::string extension_library;
  std::string device_library;
  guint cpu_streams = 0;
  guint gpu_streams = 0;
  int pre_process = 0;
  int metadata_form = kMetadataAuto;
  bool copy_outputs = false;  ///< of the element, not a property: results are the outputs
  guint batch_size = 0;
  gint batch_timeout = -1;
  guint nireq = 0;
  int scheduling_policy = kSchedulingThroughput;
  bool no_block = false;
  bool reshape = false;
  std::string custom_preproc_library;
  std::string core_pinning;
  int scale_method = kScaleDefault;
  std::string pre_process_config;
  bool share_va_display = true;
  guint reshape_width = 0;
  guint reshape_height = 0;
  // Read for every frame.
  guint inference_interval = 1;
  int region = kInferenceRegionFullFrame;
  std::string object_class;
  float threshold = 0.5f;
  bool threshold_given = false;
  std::string threshold_per_class;  ///< read when the element goes to PAUSED
  guint reclassify_interval = 1;
  bool skip_raw_tensors = false;
  guint latency_budget = 0;  ///< ms; 0: none
  gfloat stream_weight = 1.0f;
  bool qos = true;
  int late_frames = kLateFramesKeep;
  bool carry_results = false;
};

/// Installs the properties that heterodetect and heteroclassify share. `default_region` is what the
/// element analyses unless told otherwise; `with_threshold` adds the detectors' threshold.
void install_inference_properties(GObjectClass* object_class, InferenceRegion default_region,
                                  bool with_threshold);

/// Those that heteroclassify has besides.
void install_classify_properties(GObjectClass* object_class);

/// False when the id is none of these properties.
bool set_inference_property(InferenceSettings& settings, guint id, const GValue* value);
bool get_inference_property(const InferenceSettings& settings, guint id, GValue* value);

/// Checks the settings and turns them into what a VisionModel is loaded with; its model may be
/// empty where there is a model-instance-id. `defaults` are those of the process for the device
/// (Core::set_property): they win over what elements choose where nothing is given.
Result<VisionModelSettings> vision_model_settings(const InferenceSettings& settings,
                                                  const Properties& defaults = {});

/// What is set for DL Streamer and has no effect here, a sentence each for the user.
std::vector<std::string> ignored_settings(const InferenceSettings& settings);

/// The form that the settings ask for. Fails with NotSupported where this build has no
/// GstAnalyticsRelationMeta.
Result<MetadataForm> metadata_form(const InferenceSettings& settings);

/// "a,b, c" or GStreamer's array form "<a,b,c>".
std::vector<std::string> split_list(const std::string& text);

}  // namespace het::gst
