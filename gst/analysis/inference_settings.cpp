#include "inference_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "gst/frames/picture_source.h"
#include "inference/decoders/model_proc.h"
#include "inference/devices/older_names.h"
#include "inference/machine/processor_list.h"

namespace het::gst {
namespace {

enum {
  kPropModel = 1,
  kPropModelProc,
  kPropDevice,
  kPropIeConfig,
  kPropLabels,
  kPropLabelsFile,
  kPropModelInstanceId,
  kPropCustomPostprocLib,
  kPropPreProcess,
  kPropBatchSize,
  kPropNireq,
  kPropReshapeWidth,
  kPropReshapeHeight,
  kPropInferenceInterval,
  kPropMetadataForm,
  kPropRegion,
  kPropObjectClass,
  kPropThreshold,
  kPropThresholdPerClass,
  kPropReclassifyInterval,
  kPropSkipRawTensors,
  kPropExtensionLib,
  kPropDeviceLibrary,
  kPropCpuStreams,
  kPropGpuStreams,
  kPropBatchTimeout,
  kPropLatencyBudget,
  kPropStreamWeight,
  kPropQos,
  kPropLateFrames,
  kPropCarryResults,
  kPropSchedulingPolicy,
  kPropNoBlock,
  kPropReshape,
  kPropCustomPreprocLib,
  kPropShareVaDisplay,
  kPropPreProcessConfig,
  kPropCorePinning,
  kPropScaleMethod,
};

constexpr guint kMaxRequests = 1024;
constexpr char kProcessors[] = "PROCESSORS";
constexpr guint kMaxPictureSize = 16384;

GType inference_region_type() {
  static const GEnumValue values[] = {
      {kInferenceRegionFullFrame, "The whole picture", "full-frame"},
      {kInferenceRegionRoiList, "Each region of interest that the frame carries", "roi-list"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroInferenceRegion", values);
  return type;
}

GType late_frames_type() {
  static const GEnumValue values[] = {
      {kLateFramesKeep, "They pass, without results or with carried ones", "keep"},
      {kLateFramesDrop, "They are dropped", "drop"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroLateFrames", values);
  return type;
}

GType scale_method_type() {
  static const GEnumValue values[] = {
      {kScaleDefault, "As the driver does", "default"},
      {kScaleFast, "The driver's fastest way, of less quality", "fast"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroScaleMethod", values);
  return type;
}

GType scheduling_policy_type() {
  static const GEnumValue values[] = {
      {kSchedulingThroughput, "Each stream gets its share (stream-weight)", "throughput"},
      {kSchedulingLatency, "The earliest frame of all streams comes first", "latency"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroSchedulingPolicy", values);
  return type;
}

GType metadata_form_type() {
  static const GEnumValue values[] = {
      {kMetadataAuto, "analytics where GStreamer has it, else roi", "auto"},
      {kMetadataRegionOfInterest, "GstVideoRegionOfInterestMeta", "roi"},
      {kMetadataAnalytics, "GstAnalyticsRelationMeta (from GStreamer 1.26 on)", "analytics"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroMetadataForm", values);
  return type;
}

GParamFlags flags(GParamFlags when_mutable) {
  return static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | when_mutable);
}

void install_model_properties(GObjectClass* klass) {
  const GParamFlags ready = flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_READY));
  const auto text = [&](guint id, const char* name, const char* nick, const char* blurb,
                        const char* fallback) {
    g_object_class_install_property(klass, id,
                                    g_param_spec_string(name, nick, blurb, fallback, ready));
  };
  text(kPropModel, "model", "Model", "Path of the model file (.onnx, or OpenVINO's .xml)", nullptr);
  text(
      kPropModelProc, "model-proc", "Model descriptor",
      "Path of the JSON file (DL Streamer's model-proc schema) that says how pictures get into the "
      "model and how its results are read",
      nullptr);
  text(kPropDevice, "device", "Device",
       "Where the model runs, such as CPU, BATCH:GPU(8) or HETERO:GPU,CPU; an unknown name is "
       "answered with those that exist",
       "CPU");
  text(kPropIeConfig, "ie-config", "Device properties",
       "Properties of the device, as KEY=VALUE,KEY=VALUE with OpenVINO's names (NUM_STREAMS=2); "
       "PERFORMANCE_HINT is THROUGHPUT unless given",
       "");
  text(kPropLabels, "labels", "Labels",
       "Names of the classes in their order, comma-separated; wins over labels-file and model-proc",
       nullptr);
  text(kPropLabelsFile, "labels-file", "Labels file",
       "Path of a text file with the name of one class per line; wins over model-proc", nullptr);
  text(kPropModelInstanceId, "model-instance-id", "Model instance",
       "Elements of a process with the same id share one loaded model; their model settings must "
       "agree, or all but the first leave them out",
       nullptr);
  text(kPropCustomPostprocLib, "custom-postproc-lib", "Decoder library",
       "Path of a shared library with a decoder of your own (inference/custom_decoder.h), for the "
       "converters custom_to_roi and custom_to_tensor. It runs in this process: load only what you "
       "trust",
       nullptr);
  text(kPropDeviceLibrary, "device-library", "Device library",
       "Path of a shared library with devices of your own (inference/custom_device.h), or of a "
       "folder of such, which device may then name. They run in this process: load only what you "
       "trust",
       nullptr);
  text(kPropPreProcessConfig, "pre-process-config", "Preprocessing values",
       "KEY=VALUE,KEY=VALUE that win over the model's own and the model-proc: resize_type "
       "(standard, crop, fit_to_window, fit_to_window_letterbox), pad_value, "
       "reverse_input_channels, mean_values, scale_values (one number, or three as [1,2,3])",
       "");
  g_object_class_install_property(
      klass, kPropPreProcess,
      g_param_spec_enum(
          "pre-process-backend", "Preprocessing",
          "What converts, crops and scales pictures for the model; the property stats "
          "shows which one is used",
          pre_process_type(), kPreProcessAuto, ready));
}

/// For pipelines that were written for DL Streamer: each stands for a property of the device.
void install_older_properties(GObjectClass* klass) {
  const GParamFlags ready = flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_READY));
  g_object_class_install_property(
      klass, kPropExtensionLib,
      g_param_spec_string("ov-extension-lib", "Operator library",
                          "Path of a shared library with operators of your own "
                          "(inference/custom_operator.h); the same as EXTENSIONS in ie-config",
                          nullptr, ready));
  g_object_class_install_property(
      klass, kPropNoBlock,
      g_param_spec_boolean("no-block", "Never wait",
                           "Frames for which no request is free are not analysed; late-frames says "
                           "what becomes of them. Live sources get the same by qos",
                           FALSE, static_cast<GParamFlags>(ready | G_PARAM_DEPRECATED)));
  g_object_class_install_property(
      klass, kPropReshape,
      g_param_spec_boolean("reshape", "Reshape",
                           "Of no use here: reshape-width and reshape-height alone change the "
                           "model's input, and it never follows the size of the frames",
                           FALSE, ready));
  g_object_class_install_property(
      klass, kPropCustomPreprocLib,
      g_param_spec_string("custom-preproc-lib", "Preprocessing library",
                          "Path of a shared library that prepares pictures "
                          "(inference/custom_preprocess.h). It runs in this process: load only "
                          "what you trust",
                          nullptr, ready));
  g_object_class_install_property(
      klass, kPropShareVaDisplay,
      g_param_spec_boolean("share-va-display-ctx", "Share the VA display",
                           "Always so: surfaces can only be read on the display of the pipeline",
                           TRUE, ready));
  g_object_class_install_property(
      klass, kPropCorePinning,
      g_param_spec_string("core-pinning", "Processors",
                          "Processors that the model's threads on the CPU may run on, as 0-3 or "
                          "0,2,3; the same as PROCESSORS in ie-config, which wins; other threads "
                          "stay where they are",
                          nullptr, ready));
  g_object_class_install_property(
      klass, kPropScaleMethod,
      g_param_spec_enum("scale-method", "Scaling",
                        "How the video processor scales VA surfaces; elsewhere pictures are scaled "
                        "bilinearly",
                        scale_method_type(), kScaleDefault, ready));
  const auto streams = [&](guint id, const char* name, const char* nick, const char* blurb) {
    g_object_class_install_property(
        klass, id,
        g_param_spec_uint(name, nick, blurb, 0, G_MAXUINT, 0,
                          static_cast<GParamFlags>(ready | G_PARAM_DEPRECATED)));
  };
  streams(kPropCpuStreams, "cpu-throughput-streams", "CPU streams",
          "With device=CPU the same as NUM_STREAMS in ie-config, which wins; 0 = not given");
  streams(kPropGpuStreams, "gpu-throughput-streams", "GPU streams",
          "With device=GPU the same as NUM_STREAMS in ie-config, which wins; 0 = not given");
}

void install_request_properties(GObjectClass* klass) {
  const GParamFlags ready = flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_READY));
  g_object_class_install_property(
      klass, kPropMetadataForm,
      g_param_spec_enum("metadata-form", "Form of the metadata",
                        "The meta in which results are attached; all elements of this plugin read "
                        "both forms",
                        metadata_form_type(), kMetadataAuto, ready));
  g_object_class_install_property(
      klass, kPropBatchSize,
      g_param_spec_uint("batch-size", "Batch size",
                        "Pictures that run together, of this element and of those with its "
                        "model-instance-id: device=X becomes BATCH:X(n). 0 = one by one, or what "
                        "device says",
                        0, 1024, 0, ready));
  g_object_class_install_property(
      klass, kPropBatchTimeout,
      g_param_spec_int("batch-timeout", "Batch timeout",
                       "Milliseconds that a picture waits for others to make a batch with, before "
                       "it runs alone; -1 = the device's own, 1000",
                       -1, G_MAXINT, -1, ready));
  g_object_class_install_property(
      klass, kPropLatencyBudget,
      g_param_spec_uint("latency-budget", "Latency budget",
                        "Milliseconds after a frame's arrival in which its results are wanted: a "
                        "batch that is not full runs early enough for it, as measured, with all "
                        "streams that are in it. 0 = batch-timeout alone counts",
                        0, G_MAXUINT, 0,
                        flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_PLAYING))));
  g_object_class_install_property(
      klass, kPropStreamWeight,
      g_param_spec_float("stream-weight", "Stream weight",
                         "Share of this element in a model that others use too (model-instance-id) "
                         "while more pictures wait than it takes; 2 gets twice as much as 1",
                         0.01f, 100.0f, 1.0f,
                         flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_PLAYING))));
  g_object_class_install_property(
      klass, kPropSchedulingPolicy,
      g_param_spec_enum("scheduling-policy", "Scheduling policy",
                        "Whose frame comes first among the elements of one model-instance-id; "
                        "latency holds for all of them when one says so",
                        scheduling_policy_type(), kSchedulingThroughput, ready));
  g_object_class_install_property(
      klass, kPropNireq,
      g_param_spec_uint("nireq", "Requests in flight",
                        "Inference requests that run at the same time for this element; 0 = what "
                        "the device recommends, at least 2",
                        0, kMaxRequests, 0, ready));
  g_object_class_install_property(
      klass, kPropReshapeWidth,
      g_param_spec_uint("reshape-width", "Input width",
                        "Width in pixels to which the model's picture input is changed; 0 = as in "
                        "the model",
                        0, kMaxPictureSize, 0, ready));
  g_object_class_install_property(
      klass, kPropReshapeHeight,
      g_param_spec_uint("reshape-height", "Input height",
                        "Height in pixels to which the model's picture input is changed; 0 = as in "
                        "the model",
                        0, kMaxPictureSize, 0, ready));
}

void install_time_properties(GObjectClass* klass) {
  const GParamFlags playing = flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      klass, kPropQos,
      g_param_spec_boolean(
          "qos", "Quality of service",
          "Late frames are not analysed: those that a sink's QoS events name and, of live sources, "
          "those for which no request is free. Each posts a QOS message",
          TRUE, playing));
  g_object_class_install_property(
      klass, kPropLateFrames,
      g_param_spec_enum("late-frames", "Late frames",
                        "With qos: what becomes of the buffers of late frames", late_frames_type(),
                        kLateFramesKeep, playing));
  g_object_class_install_property(
      klass, kPropCarryResults,
      g_param_spec_boolean("carry-results", "Carry results",
                           "Frames that are not analysed (inference-interval, qos) get the results "
                           "of the last analysed whole picture, marked with their age",
                           FALSE, playing));
}

std::string text_of(const GValue* value) {
  const char* text = g_value_get_string(value);
  return text ? text : "";
}

/// The text member that a property id stands for, or null.
template <class Settings>
auto text_member(Settings& settings, guint id) -> decltype(&settings.model) {
  switch (id) {
    case kPropModel:
      return &settings.model;
    case kPropModelProc:
      return &settings.model_proc;
    case kPropDevice:
      return &settings.device;
    case kPropIeConfig:
      return &settings.ie_config;
    case kPropLabels:
      return &settings.labels;
    case kPropLabelsFile:
      return &settings.labels_file;
    case kPropModelInstanceId:
      return &settings.model_instance_id;
    case kPropCustomPostprocLib:
      return &settings.custom_library;
    case kPropObjectClass:
      return &settings.object_class;
    case kPropCorePinning:
      return &settings.core_pinning;
    case kPropCustomPreprocLib:
      return &settings.custom_preproc_library;
    case kPropPreProcessConfig:
      return &settings.pre_process_config;
    case kPropExtensionLib:
      return &settings.extension_library;
    case kPropDeviceLibrary:
      return &settings.device_library;
    case kPropThresholdPerClass:
      return &settings.threshold_per_class;
    default:
      return nullptr;
  }
}

/// The same for unsigned numbers.
template <class Settings>
auto number_member(Settings& settings, guint id) -> decltype(&settings.nireq) {
  switch (id) {
    case kPropBatchSize:
      return &settings.batch_size;
    case kPropNireq:
      return &settings.nireq;
    case kPropReshapeWidth:
      return &settings.reshape_width;
    case kPropReshapeHeight:
      return &settings.reshape_height;
    case kPropInferenceInterval:
      return &settings.inference_interval;
    case kPropCpuStreams:
      return &settings.cpu_streams;
    case kPropGpuStreams:
      return &settings.gpu_streams;
    case kPropReclassifyInterval:
      return &settings.reclassify_interval;
    default:
      return nullptr;
  }
}

/// DL Streamer's keys of pre-process-config for its threads of VAAPI.
bool is_vaapi_key(std::string_view key) {
  return key.starts_with("VAAPI_");
}

}  // namespace

void install_inference_properties(GObjectClass* klass, InferenceRegion default_region,
                                  bool with_threshold) {
  install_model_properties(klass);
  install_request_properties(klass);
  install_older_properties(klass);
  install_time_properties(klass);
  const GParamFlags playing = flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      klass, kPropInferenceInterval,
      g_param_spec_uint("inference-interval", "Inference interval",
                        "Every n-th frame is analysed, beginning with the first; the frames "
                        "between pass without results (see carry-results)",
                        1, G_MAXUINT, 1, playing));
  g_object_class_install_property(
      klass, kPropRegion,
      g_param_spec_enum("inference-region", "Inference region",
                        "Which parts of a frame are analysed", inference_region_type(),
                        default_region, playing));
  g_object_class_install_property(
      klass, kPropObjectClass,
      g_param_spec_string("object-class", "Object class",
                          "With inference-region=roi-list: only regions of these types, "
                          "comma-separated; empty = all",
                          "", playing));
  if (!with_threshold) return;
  g_object_class_install_property(
      klass, kPropThresholdPerClass,
      g_param_spec_string("threshold-per-class", "Thresholds of classes",
                          "Minimum confidences (0..1) of single classes, as person=0.6,car=0.3; "
                          "others keep the threshold. A class of a model without labels is its "
                          "number",
                          "", flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_READY))));
  g_object_class_install_property(
      klass, kPropThreshold,
      g_param_spec_float("threshold", "Threshold",
                         "Minimum confidence (0..1) of the objects that are reported. A threshold "
                         "in the model-proc file holds as long as this property is not set",
                         0.0f, 1.0f, 0.5f, playing));
}

void install_classify_properties(GObjectClass* klass) {
  const GParamFlags playing = flags(static_cast<GParamFlags>(GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property(
      klass, kPropReclassifyInterval,
      g_param_spec_uint("reclassify-interval", "Reclassification interval",
                        "With inference-region=roi-list: an object with an id (heterotrack) is "
                        "analysed every n-th frame and keeps its results in between; 0 = once",
                        0, G_MAXUINT, 1, playing));
  g_object_class_install_property(
      klass, kPropSkipRawTensors,
      g_param_spec_boolean("skip-raw-tensors", "Skip raw tensors",
                           "Leave out results that are the model's outputs as they are, such as "
                           "embeddings: only what was read from them is attached",
                           FALSE, playing));
}

bool set_inference_property(InferenceSettings& settings, guint id, const GValue* value) {
  if (std::string* text = text_member(settings, id)) {
    *text = text_of(value);
  } else if (guint* number = number_member(settings, id)) {
    *number = g_value_get_uint(value);
  } else if (id == kPropPreProcess) {
    settings.pre_process = g_value_get_enum(value);
  } else if (id == kPropMetadataForm) {
    settings.metadata_form = g_value_get_enum(value);
  } else if (id == kPropRegion) {
    settings.region = g_value_get_enum(value);
  } else if (id == kPropThreshold) {
    settings.threshold = g_value_get_float(value);
    settings.threshold_given = true;
  } else if (id == kPropSkipRawTensors) {
    settings.skip_raw_tensors = g_value_get_boolean(value);
  } else if (id == kPropBatchTimeout) {
    settings.batch_timeout = g_value_get_int(value);
  } else if (id == kPropLatencyBudget) {
    settings.latency_budget = g_value_get_uint(value);
  } else if (id == kPropStreamWeight) {
    settings.stream_weight = g_value_get_float(value);
  } else if (id == kPropQos) {
    settings.qos = g_value_get_boolean(value);
  } else if (id == kPropLateFrames) {
    settings.late_frames = g_value_get_enum(value);
  } else if (id == kPropCarryResults) {
    settings.carry_results = g_value_get_boolean(value);
  } else if (id == kPropSchedulingPolicy) {
    settings.scheduling_policy = g_value_get_enum(value);
  } else if (id == kPropScaleMethod) {
    settings.scale_method = g_value_get_enum(value);
  } else if (id == kPropNoBlock) {
    settings.no_block = g_value_get_boolean(value);
  } else if (id == kPropReshape) {
    settings.reshape = g_value_get_boolean(value);
  } else if (id == kPropShareVaDisplay) {
    settings.share_va_display = g_value_get_boolean(value);
  } else {
    return false;
  }
  return true;
}

bool get_inference_property(const InferenceSettings& settings, guint id, GValue* value) {
  if (const std::string* text = text_member(settings, id)) {
    g_value_set_string(value, text->c_str());
  } else if (const guint* number = number_member(settings, id)) {
    g_value_set_uint(value, *number);
  } else if (id == kPropPreProcess) {
    g_value_set_enum(value, settings.pre_process);
  } else if (id == kPropMetadataForm) {
    g_value_set_enum(value, settings.metadata_form);
  } else if (id == kPropRegion) {
    g_value_set_enum(value, settings.region);
  } else if (id == kPropThreshold) {
    g_value_set_float(value, settings.threshold);
  } else if (id == kPropSkipRawTensors) {
    g_value_set_boolean(value, settings.skip_raw_tensors);
  } else if (id == kPropBatchTimeout) {
    g_value_set_int(value, settings.batch_timeout);
  } else if (id == kPropLatencyBudget) {
    g_value_set_uint(value, settings.latency_budget);
  } else if (id == kPropStreamWeight) {
    g_value_set_float(value, settings.stream_weight);
  } else if (id == kPropQos) {
    g_value_set_boolean(value, settings.qos);
  } else if (id == kPropLateFrames) {
    g_value_set_enum(value, settings.late_frames);
  } else if (id == kPropCarryResults) {
    g_value_set_boolean(value, settings.carry_results);
  } else if (id == kPropSchedulingPolicy) {
    g_value_set_enum(value, settings.scheduling_policy);
  } else if (id == kPropScaleMethod) {
    g_value_set_enum(value, settings.scale_method);
  } else if (id == kPropNoBlock) {
    g_value_set_boolean(value, settings.no_block);
  } else if (id == kPropReshape) {
    g_value_set_boolean(value, settings.reshape);
  } else if (id == kPropShareVaDisplay) {
    g_value_set_boolean(value, settings.share_va_display);
  } else {
    return false;
  }
  return true;
}

Result<VisionModelSettings> vision_model_settings(const InferenceSettings& settings,
                                                  const Properties& defaults) {
  if (settings.model.empty() && settings.model_instance_id.empty()) {
    return error(StatusCode::InvalidArgument,
                 "no model is given; set the property model to the path of a model file");
  }
  const std::string kind = parse_device_name(settings.device).kind;
  if (settings.batch_size > 1 && kind == "BATCH") {
    return error(StatusCode::InvalidArgument,
                 "batch-size={} and device={} both ask for batches; give one of them",
                 settings.batch_size, settings.device);
  }
  const bool is_batched = settings.batch_size > 1 || kind == "BATCH";
  VisionModelSettings wanted;
  wanted.model = settings.model;
  wanted.model_proc = settings.model_proc;
  wanted.labels_file = settings.labels_file;
  wanted.labels = split_list(settings.labels);
  wanted.device = settings.batch_size > 1
                      ? fmt::format("BATCH:{}({})", settings.device, settings.batch_size)
                      : settings.device;
  wanted.custom_library = settings.custom_library;
  wanted.preprocess_library = settings.custom_preproc_library;
  wanted.copy_outputs = settings.copy_outputs;
  auto properties = parse_properties(settings.ie_config);
  if (!properties) return Failure(properties.error().with_context("property ie-config"));
  wanted.properties = std::move(*properties);
  auto preparation = parse_properties(settings.pre_process_config);
  if (!preparation) return Failure(preparation.error().with_context("property pre-process-config"));
  wanted.picture_preparation = std::move(*preparation);
  std::erase_if(wanted.picture_preparation,
                [](const auto& item) { return is_vaapi_key(item.first); });
  const guint streams = kind == "CPU"   ? settings.cpu_streams
                        : kind == "GPU" ? settings.gpu_streams
                                        : 0;
  if (streams > 0) set_default(wanted.properties, "NUM_STREAMS", std::to_string(streams));
  if (!settings.extension_library.empty())
    set_default(wanted.properties, "EXTENSIONS", settings.extension_library);
  if (!settings.core_pinning.empty()) {
    // A comma ends a value of ie-config, and of the lists that composite devices hand on.
    std::string processors = settings.core_pinning;
    std::replace(processors.begin(), processors.end(), ',', ';');
    const auto parsed = parse_processors(processors);
    if (!parsed) return Failure(parsed.error().with_context("property core-pinning"));
    if (find_property(kProcessors, settings.device))
      set_default(wanted.properties, kProcessors, processors);
  }
  if (is_batched && settings.batch_timeout >= 0) {
    replace_property(wanted.properties, "AUTO_BATCH_TIMEOUT",
                     std::to_string(settings.batch_timeout));
  }
  // A pipeline has frames to overlap: one thread a stream and no barriers among threads, also while
  // decoders and encoders compete for the cores. NUM_STREAMS and an own hint win.
  if (!defaults.contains("PERFORMANCE_HINT")) {
    set_default(wanted.properties, "PERFORMANCE_HINT", "THROUGHPUT");
  }
  // Several instances on one machine would all be bound to its first cores.
  if (kind == "CPU" && !defaults.contains("ENABLE_CPU_PINNING")) {
    set_default(wanted.properties, "ENABLE_CPU_PINNING", "NUMA");
  }
  // Devices that convert pictures themselves are told not to.
  constexpr std::string_view kConversion = "GPU_PICTURE_CONVERSION";
  if (without_alias(settings.pre_process) == kPreProcessCpu &&
      find_property(kConversion, settings.device)) {
    set_default(wanted.properties, kConversion, "HOST");
  }
  wanted.picture_width = static_cast<int>(settings.reshape_width);
  wanted.picture_height = static_cast<int>(settings.reshape_height);
  return wanted;
}

std::vector<std::string> ignored_settings(const InferenceSettings& settings) {
  std::vector<std::string> ignored;
  if (settings.reshape && settings.reshape_width == 0 && settings.reshape_height == 0) {
    ignored.emplace_back(
        "reshape=true has no effect: the model's input does not follow the size of the frames; set "
        "reshape-width and reshape-height");
  }
  if (!settings.core_pinning.empty() && !find_property(kProcessors, settings.device)) {
    ignored.push_back(
        fmt::format("core-pinning={} has no effect: device={} has no threads of the processor to "
                    "bind; bind the process for those that feed it",
                    settings.core_pinning, settings.device));
  }
  if (settings.pre_process_config.find("VAAPI_") != std::string::npos) {
    ignored.emplace_back(
        "VAAPI_THREAD_POOL_SIZE and VAAPI_FAST_SCALE_LOAD_FACTOR in pre-process-config have no "
        "effect: the video processor is driven by the streaming thread");
  }
  if (settings.copy_outputs && !settings.model_proc.empty()) {
    // What cannot be read is an error elsewhere.
    const Result<ModelProc> described = read_model_proc(settings.model_proc);
    for (const DecoderConfig& output :
         described ? described->outputs : std::vector<DecoderConfig>()) {
      if (output.converter.empty() || leaves_tensors(output.converter)) continue;
      ignored.push_back(fmt::format(
          "converter '{}' of model-proc '{}' reads nothing here: heteroinference hands outputs on "
          "as "
          "tensors, of which it only tells decoders of others what they are; heterodetect or, for "
          "what is no object, heteroclassify inference-region=full-frame reads them",
          output.converter, settings.model_proc));
    }
  }
  if (!settings.share_va_display) {
    ignored.emplace_back(
        "share-va-display-ctx=false has no effect: surfaces can only be read on the display that "
        "the pipeline shares");
  }
  return ignored;
}

Result<MetadataForm> metadata_form(const InferenceSettings& settings) {
  if (settings.metadata_form == kMetadataAuto) return default_metadata_form();
  if (settings.metadata_form == kMetadataRegionOfInterest) return MetadataForm::RegionOfInterest;
  if (has_analytics()) return MetadataForm::Analytics;
  return error(StatusCode::NotSupported, "metadata-form=analytics needs {}: use auto or roi",
               kHasAnalytics ? "libgstanalytics-1.0.so.0 (Debian's package "
                               "libgstreamer-plugins-bad1.0-0), which is not installed"
                             : "a build with GStreamer 1.26 or newer and its "
                               "gstreamer-analytics-1.0, which this one is not");
}

std::vector<std::string> split_list(const std::string& text) {
  std::string_view rest = text;
  if (rest.size() >= 2 && rest.front() == '<' && rest.back() == '>') {
    rest = rest.substr(1, rest.size() - 2);
  }
  std::vector<std::string> items;
  while (!rest.empty()) {
    const size_t comma = std::min(rest.find(','), rest.size());
    std::string_view item = rest.substr(0, comma);
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    items.emplace_back(item);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return items;
}

}  // namespace het::gst
