#include "inference/decoders/model_proc.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "inference/base/log.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/descriptors/json_object.h"
#include "inference/decoders/labels.h"
#include "inference/decoders/name_list.h"

namespace het {
namespace {

using nlohmann::json;

constexpr size_t kMaxEntries = 64;
constexpr size_t kMaxConstant = size_t{1} << 16;
constexpr int kMaxAnchors = 64;
constexpr int kModelProcMaxPoints = 1024;
constexpr int kMaxBorder = 4096;

/// Names that DL Streamer's older descriptors (tensor_to_...), its PyTorch elements (detection) and
/// Geti's exports have for converters.
constexpr std::pair<std::string_view, std::string_view> kOlderNames[] = {
    {"tensor_to_bbox_ssd", "detection_output"},
    {"tensor_to_bbox_atss", "boxes_labels"},
    {"tensor_to_bbox_yolo_v2", "yolo_v2"},
    {"tensor_to_bbox_yolo_v3", "yolo_v3"},
    {"tensor_to_bbox_yolo_v7", "yolo_v7"},
    {"tensor_to_bbox_yolo_v8", "yolo_v8"},
    {"tensor_to_bbox_mask_rcnn", "mask_rcnn"},
    {"tensor_to_label", "label"},
    {"tensor_to_text", "text"},
    {"tensor_to_keypoints_hrnet", "keypoints_hrnet"},
    {"tensor_to_keypoints_openpose", "keypoints_openpose"},
    {"tensor_to_keypoints_3d", "keypoints_3d"},
    {"detection", "torchvision"},
    {"ssd", "boxes_labels"},
    {"Classification", "label"},
    {"MaskRCNN", "mask_rcnn"},
    {"YOLOv8", "yolo_v8"},
    {"YOLOv8-OBB", "yolo_v8_obb"},
    {"YOLOv8-SEG", "yolo_v8_seg"},
};

Status check_version(const JsonObject& root) {
  HET_ASSIGN(const std::string version, root.text("json_schema_version", ""));
  const bool plausible = !version.empty() && version.size() < 32 &&
                         version.find_first_not_of("0123456789.") == std::string::npos &&
                         version.front() != '.';
  if (!plausible) return root.fail("json_schema_version", "expected a version such as \"2.2.0\"");
  if (version.substr(0, 2) != "2.")
    return root.fail("json_schema_version",
                     fmt::format("version {} is not supported; write 2.2.0", version));
  return {};
}

/// An array with one value for all three channels or one for each.
Result<std::array<float, 3>> channel_values(const JsonObject& params, std::string_view key,
                                            std::array<float, 3> fallback) {
  if (!params.has(key)) return fallback;
  HET_ASSIGN(const std::vector<float> values, params.numbers(key));
  if (values.size() == 1) return std::array<float, 3>{values[0], values[0], values[0]};
  if (values.size() == 3) return std::array<float, 3>{values[0], values[1], values[2]};
  return params.fail(key, fmt::format("expected 1 or 3 numbers, found {}", values.size()));
}

Status parse_padding(const JsonObject& params, PreprocessDesc& desc) {
  HET_ASSIGN(const JsonObject padding, params.object("padding"));
  HET_TRY(padding.allow_keys({"fill_value", "stride", "stride_x", "stride_y"}));
  HET_ASSIGN(desc.pad_value, channel_values(padding, "fill_value", {0.0f, 0.0f, 0.0f}));
  for (float value : desc.pad_value) {
    if (!(value >= 0.0f && value <= 255.0f))
      return padding.fail("fill_value", fmt::format("{} is outside 0..255", value));
  }
  if (padding.has("stride") && (padding.has("stride_x") || padding.has("stride_y")))
    return padding.fail("stride", "give stride, or stride_x and stride_y");
  HET_ASSIGN(const int both, padding.integer("stride", 0, 0, kMaxBorder));
  HET_ASSIGN(desc.border_x, padding.integer("stride_x", both, 0, kMaxBorder));
  HET_ASSIGN(desc.border_y, padding.integer("stride_y", both, 0, kMaxBorder));
  return {};
}

Status parse_resize(const JsonObject& params, PreprocessDesc& desc) {
  HET_ASSIGN(const std::string resize,
             params.choice("resize", "no-aspect-ratio",
                           {"no", "no-aspect-ratio", "aspect-ratio", "aspect-ratio-pad"}));
  if (resize == "aspect-ratio") desc.resize = ResizeMode::LetterboxCentre;
  if (resize == "aspect-ratio-pad") desc.resize = ResizeMode::LetterboxTopLeft;
  if (!params.has("crop")) return {};
  HET_TRY(params.choice("crop", "", {"central", "central-resize"}));
  if (resize == "no-aspect-ratio" && params.has("resize"))
    return params.fail("crop",
                       "a crop keeps the aspect ratio; leave out resize or say aspect-ratio");
  desc.resize = ResizeMode::CentralCrop;
  return {};
}

Status parse_normalisation(const JsonObject& params, PreprocessDesc& desc) {
  if (params.has("range")) {
    HET_ASSIGN(const std::vector<float> range, params.numbers("range"));
    if (range.size() != 2 || !(range[0] < range[1]))
      return params.fail("range", "expected [low, high] with low < high");
    desc.range_low = range[0];
    desc.range_high = range[1];
  }
  // DL Streamer ignores one without the other, which nobody wants silently.
  if (params.has("mean") != params.has("std"))
    return params.fail(params.has("mean") ? "mean" : "std",
                       "mean and std go together; give both, with 0 or 1 where nothing changes");
  HET_ASSIGN(desc.mean, channel_values(params, "mean", desc.mean));
  HET_ASSIGN(desc.std, channel_values(params, "std", desc.std));
  for (float value : desc.std) {
    if (!(value > 0.0f)) return params.fail("std", fmt::format("{} is not positive", value));
  }
  return {};
}

Status parse_image_params(const JsonObject& params, InputPreproc& input) {
  if (params.has("alignment_points"))
    return params.fail("alignment_points",
                       "faces are not turned to these points; leave the key out to read them as "
                       "they were found, as DL Streamer does where nothing found their landmarks");
  HET_TRY(params.allow_keys({"resize", "crop", "color_space", "range", "mean", "std", "padding",
                             "fourth_channel", "widths"}));
  HET_ASSIGN(input.widths, params.integers("widths", 1, 1 << 16));
  if (std::ranges::adjacent_find(input.widths, std::greater_equal{}) != input.widths.end())
    return params.fail("widths", "expected ascending widths");
  if (params.has("fourth_channel")) {
    HET_ASSIGN(input.fourth_channel, params.number("fourth_channel", 0.0f, -1e9f, 1e9f));
  }
  HET_TRY(parse_resize(params, input.preprocess));
  HET_ASSIGN(const std::string color,
             params.choice("color_space", "BGR", {"BGR", "RGB", "GRAYSCALE"}));
  input.color_given = params.has("color_space");
  if (color == "RGB") input.preprocess.color_order = ColorOrder::RGB;
  if (color == "GRAYSCALE") input.preprocess.color_order = ColorOrder::Gray;
  HET_TRY(parse_normalisation(params, input.preprocess));
  return parse_padding(params, input.preprocess);
}

/// The numbers of an input that is always the same: `value`, one or an array, or `file`, a text of
/// numbers in the descriptor's folder.
Result<std::vector<float>> parse_constant(const JsonObject& params, std::string_view origin) {
  HET_TRY(params.allow_keys({"value", "file"}));
  if (params.has("value") == params.has("file"))
    return params.fail("value",
                       "give value (a number or an array of numbers) or file, one of them");
  std::vector<float> values;
  if (params.has("value") && params["value"].is_number()) {
    HET_ASSIGN(const float value, params.number("value", 0.0f, -1e30f, 1e30f));
    values.push_back(value);
  } else if (params.has("value")) {
    HET_ASSIGN(values, params.numbers("value", kMaxConstant));
  } else {
    HET_ASSIGN(const std::string named, params.text("file", ""));
    Result<std::string> path = path_beside(named, origin);
    if (!path) return Failure(path.error().with_context(params.path_of("file")));
    HET_ASSIGN(const std::string text,
               read_text_file(*path, kMaxModelProcBytes, "file of a constant input"));
    HET_ASSIGN(values, parse_numbers(text, *path));
  }
  if (values.empty()) return params.fail("value", "expected at least one number");
  return values;
}

Result<InputPreproc> parse_input(const JsonObject& entry, std::string_view origin) {
  HET_TRY(entry.allow_keys({"layer_name", "format", "precision", "layout", "shape", "params"}));
  InputPreproc input;
  HET_ASSIGN(input.layer_name, entry.text("layer_name", ""));
  if (input.layer_name == "ANY") input.layer_name.clear();
  HET_ASSIGN(input.format, entry.choice("format", "image",
                                        {"image", "image_info", "sequence_index", "constant"}));
  HET_ASSIGN(const std::string precision, entry.text("precision", "FP32"));
  const auto type = parse_element_type(precision);
  input.is_bytes = type && *type == ElementType::UInt8;
  if (!type)
    return entry.fail("precision",
                      fmt::format("'{}' is no element type; write FP32, FP16 or U8", precision));
  HET_ASSIGN(const std::string layout, entry.choice("layout", "NCHW", {"NCHW", "NHWC"}));
  input.layout_given = entry.has("layout");
  if (layout == "NHWC") input.preprocess.tensor_layout = Layout::NHWC;
  HET_ASSIGN(const std::vector<int> shape, entry.integers("shape", 1, 1 << 20));
  input.shape.assign(shape.begin(), shape.end());

  HET_ASSIGN(const JsonObject params, entry.object("params"));
  if (input.format == "image") {
    HET_TRY(parse_image_params(params, input));
  } else if (input.format == "image_info") {
    HET_TRY(params.allow_keys({"scale", "order"}));
    HET_ASSIGN(input.scale, params.number("scale", 1.0f, -1e6f, 1e6f));
    HET_ASSIGN(const std::string order,
               params.choice("order", "height,width", {"height,width", "width,height"}));
    input.width_first = order == "width,height";
  } else if (input.format == "constant") {
    HET_ASSIGN(input.values, parse_constant(params, origin));
  } else {
    HET_TRY(params.allow_keys({}));
  }
  return input;
}

Result<std::vector<std::string>> parse_labels_key(const JsonObject& entry,
                                                  std::string_view origin) {
  if (!entry["labels"].is_string()) return entry.texts("labels", kMaxLabels);
  HET_ASSIGN(const std::string named, entry.text("labels", ""));
  Result<std::string> path = path_beside(named, origin);
  if (!path) return Failure(path.error().with_context(entry.path_of("labels")));
  Result<std::vector<std::string>> labels = read_labels(*path);
  if (!labels)
    return Failure(
        labels.error().with_context(fmt::format("{}: {}", origin, entry.path_of("labels"))));
  return labels;
}

/// The keys that this entry may have: the common ones and its converter's.
Result<std::vector<std::string_view>> output_keys(const JsonObject& entry,
                                                  const std::string& converter) {
  std::vector<std::string_view> keys{"converter", "layer_name", "layer_names", "attribute_name"};
  if (converter.empty()) {
    keys.insert(keys.end(), {"labels", "format"});
    return keys;
  }
  const DecoderDef* def = decoder_registry().find(converter);
  if (converter == "audio_labels")
    return entry.fail("converter", "'audio_labels' reads sounds; only pictures are analysed here");
  if (def == nullptr)
    return entry.fail("converter", fmt::format("unknown converter '{}'; there are {}", converter,
                                               name_list(converter_names())));
  keys.insert(keys.end(), def->parameters.begin(), def->parameters.end());
  if (std::find(keys.begin(), keys.end(), "threshold") != keys.end())
    keys.push_back("confidence_threshold");
  return keys;
}

/// Cells of the coarsest grid: one number for both axes, or one for each.
Status parse_cells(const JsonObject& entry, DecoderConfig& config) {
  constexpr int kMaxCells = 4096;
  if (entry.has("cells_number") && (entry.has("cells_number_x") || entry.has("cells_number_y")))
    return entry.fail("cells_number", "give cells_number, or cells_number_x and cells_number_y");
  if (entry.has("cells_number_x") != entry.has("cells_number_y"))
    return entry.fail("cells_number_x", "cells_number_x and cells_number_y go together");
  HET_ASSIGN(const int both, entry.integer("cells_number", 0, 1, kMaxCells));
  HET_ASSIGN(config.cells_x, entry.integer("cells_number_x", both, 1, kMaxCells));
  HET_ASSIGN(config.cells_y, entry.integer("cells_number_y", both, 1, kMaxCells));
  return {};
}

/// Prior boxes: a list of sides for each stride, and two variances.
Status parse_priors(const JsonObject& entry, DecoderConfig& config) {
  HET_ASSIGN(config.min_sizes, entry.number_lists("min_sizes"));
  for (const std::vector<float>& sizes : config.min_sizes) {
    for (const float side : sizes) {
      if (!(side > 0.0f)) return entry.fail("min_sizes", fmt::format("{} is not positive", side));
    }
    if (sizes.empty()) return entry.fail("min_sizes", "expected a list of sides for each stride");
  }
  HET_ASSIGN(config.variances, entry.numbers("variances", 2));
  const auto positive = [](float variance) { return variance > 0.0f; };
  if (entry.has("variances") &&
      (config.variances.size() != 2 || !std::ranges::all_of(config.variances, positive)))
    return entry.fail("variances", "expected two positive numbers, of places and of sizes");
  return {};
}

/// What the converters for grids, points and heat maps read besides.
Status parse_geometry(const JsonObject& entry, DecoderConfig& config) {
  HET_ASSIGN(config.strides, entry.integers("strides", 1, 4096));
  HET_TRY(parse_priors(entry, config));
  HET_ASSIGN(config.anchors, entry.numbers("anchors", 2 * kMaxAnchors));
  for (float side : config.anchors) {
    if (!(side > 0.0f)) return entry.fail("anchors", fmt::format("{} is not positive", side));
  }
  if (config.anchors.size() % 2 != 0)
    return entry.fail("anchors", "expected pairs of width and height");
  const int anchors = static_cast<int>(config.anchors.size() / 2);
  HET_ASSIGN(config.masks, entry.integers("masks", 0, std::max(anchors - 1, 0), kMaxAnchors));
  if (entry.has("bbox_number_on_cell")) {
    HET_ASSIGN(config.boxes_per_cell, entry.integer("bbox_number_on_cell", 0, 1, kMaxAnchors));
  }
  HET_TRY(parse_cells(entry, config));
  HET_ASSIGN(config.point_names, entry.texts("point_names", kModelProcMaxPoints));
  HET_ASSIGN(config.slice, entry.integers("slice", 0, 1 << 24));
  if (entry.has("slice") && (config.slice.size() != 2 || config.slice[1] < 1))
    return entry.fail("slice", "expected [first, count] with a count of 1 or more");
  HET_ASSIGN(config.values_per_point, entry.integer("values_per_point", 2, 2, 5));
  if (config.values_per_point == 4)
    return entry.fail("values_per_point", "a point has 2, 3 or 5 values");
  HET_ASSIGN(config.unit, entry.choice("unit", "", {"", "relative", "centred", "pixels"}));
  HET_ASSIGN(config.presence_layer, entry.text("presence_layer", ""));
  if (entry.has("minimum_side")) {
    HET_ASSIGN(config.minimum_side, entry.number("minimum_side", 0.0f, 0.0f, 65536.0f));
  }
  if (entry.has("binarize_threshold")) {
    HET_ASSIGN(config.binarize_threshold, entry.number("binarize_threshold", 0.0f, 0.0f, 255.0f));
  }
  return {};
}

/// Thresholds that some converters know by names of their own.
Status parse_thresholds(const JsonObject& entry, DecoderConfig& config) {
  const auto optional_number = [&](std::string_view key, std::optional<float>& value, float lowest,
                                   float highest) -> Status {
    if (!entry.has(key)) return {};
    HET_ASSIGN(value, entry.number(key, 0.0f, lowest, highest));
    return {};
  };
  if (entry.has("threshold") && entry.has("confidence_threshold"))
    return entry.fail("confidence_threshold", "give threshold or confidence_threshold, not both");
  HET_TRY(optional_number("threshold", config.threshold, 0.0f, 1.0f));
  HET_TRY(optional_number("confidence_threshold", config.threshold, 0.0f, 1.0f));
  HET_TRY(optional_number("iou_threshold", config.iou_threshold, 0.0f, 1.0f));
  HET_TRY(optional_number("pixel_threshold", config.pixel_threshold, 0.0f, 1.0f));
  HET_TRY(optional_number("image_threshold", config.image_threshold, 0.0f, 1.0f));
  HET_TRY(optional_number("normalization_scale", config.normalization_scale, 1e-6f, 1e6f));
  return optional_number("unclip_ratio", config.unclip_ratio, 0.0f, 10.0f);
}

/// Keys of texts, maps and pictures.
Status parse_presentation(const JsonObject& entry, DecoderConfig& config) {
  HET_ASSIGN(config.format, entry.text("format", ""));
  const bool is_text =
      config.converter.find("_ocr") != std::string::npos || config.converter == "attention_text";
  const bool is_vector =
      config.converter == "label" || config.converter == "text" || config.converter == "landmarks";
  if (is_text) {
    HET_ASSIGN(config.layout, entry.choice("layout", "", {"", "NTC", "TNC", "TC"}));
  } else if (is_vector) {
    HET_ASSIGN(config.layout, entry.choice("layout", "", {"", "C"}));
  } else {
    HET_ASSIGN(config.layout, entry.choice("layout", "", {"", "NCHW", "NHWC", "CHW", "HWC", "HW"}));
  }
  HET_ASSIGN(config.text_scale, entry.number("text_scale", 1.0f, -1e9f, 1e9f));
  HET_ASSIGN(config.text_precision, entry.integer("text_precision", 2, 0, 9));
  HET_ASSIGN(config.min_length, entry.integer("min_length", 0, 0, 1 << 16));
  HET_ASSIGN(config.blank_class, entry.integer("blank_class", 0, 0, static_cast<int>(kMaxLabels)));
  if (entry.has("end_class")) {
    HET_ASSIGN(config.end_class, entry.integer("end_class", 0, 0, static_cast<int>(kMaxLabels)));
  }
  HET_ASSIGN(config.point_connections, entry.texts("point_connections", 2048));
  if (config.point_connections.size() % 2 != 0)
    return entry.fail("point_connections", "expected two names for each line");
  HET_ASSIGN(const std::string color, entry.choice("color_space", "BGR", {"BGR", "RGB"}));
  config.rgb = color == "RGB";
  if (!entry.has("range")) return {};
  HET_ASSIGN(const std::vector<float> range, entry.numbers("range"));
  if (range.size() != 2 || !(range[0] < range[1]))
    return entry.fail("range", "expected [low, high] with low < high");
  config.range_low = range[0];
  config.range_high = range[1];
  return {};
}

/// The converter of an entry that names none but says what its values are, as DL Streamer's
/// descriptors of landmarks and embeddings do.
std::string converter_for_format(const std::string& format) {
  if (format == "landmark_points") return "landmarks";
  if (format == "cosine_distance") return "embedding";
  return "";
}

/// Today's name of a converter; an older one is a warning.
std::string converter_of_today(const JsonObject& entry, const std::string& written,
                               std::string_view origin) {
  const auto older = std::ranges::find(kOlderNames, written, [](const auto& p) { return p.first; });
  if (older == std::end(kOlderNames)) return written;
  log(LogLevel::Warning, "{}: {}: '{}' is an older name, read as '{}'; write that", origin,
      entry.path_of("converter"), written, older->second);
  return std::string(older->second);
}

Result<DecoderConfig> parse_output(const JsonObject& entry, std::string_view origin) {
  DecoderConfig config;
  HET_ASSIGN(const std::string written, entry.text("converter", ""));
  config.converter = converter_of_today(entry, written, origin);
  if (config.converter.empty()) {
    HET_ASSIGN(const std::string format, entry.text("format", ""));
    config.converter = converter_for_format(format);
  }
  HET_ASSIGN(const std::vector<std::string_view> keys, output_keys(entry, config.converter));
  HET_TRY(entry.allow_keys(keys));
  if (entry.has("layer_name") && entry.has("layer_names"))
    return entry.fail("layer_names", "give layer_name or layer_names, not both");
  HET_ASSIGN(const std::string layer, entry.text("layer_name", ""));
  HET_ASSIGN(config.layer_names, entry.texts("layer_names", kMaxEntries));
  if (!layer.empty() && layer != "ANY") config.layer_names = {layer};
  HET_ASSIGN(config.attribute_name, entry.text("attribute_name", ""));
  HET_ASSIGN(config.labels, parse_labels_key(entry, origin));
  if (entry.has("character_dict")) {
    if (entry.has("labels")) return entry.fail("character_dict", "give labels or character_dict");
    HET_ASSIGN(config.labels, entry.texts("character_dict", kMaxLabels));
  }
  HET_ASSIGN(config.method,
             entry.choice("method", "max",
                          {"max", "softmax", "index", "compound", "multi", "softmax_multi"}));
  HET_TRY(parse_thresholds(entry, config));
  if (entry.has("classes")) {
    HET_ASSIGN(config.classes, entry.integer("classes", 0, 1, static_cast<int>(kMaxLabels)));
  }
  if (entry.has("background_class")) {
    HET_ASSIGN(config.background_class,
               entry.integer("background_class", 0, 0, static_cast<int>(kMaxLabels)));
  }
  HET_TRY(parse_geometry(entry, config));
  HET_ASSIGN(config.box_format, entry.choice("box_format", "", {"", "xywh", "xyxy", "cxcywh"}));
  HET_ASSIGN(config.class_softmax, entry.boolean("do_cls_softmax", false));
  HET_ASSIGN(config.sigmoid_activation, entry.boolean("output_sigmoid_activation", false));
  HET_TRY(parse_presentation(entry, config));
  return config;
}

Result<ModelProc> read_document(const json& document, std::string_view origin) {
  HET_ASSIGN(const JsonObject root, JsonObject::at(document, origin, ""));
  HET_TRY(root.allow_keys({"json_schema_version", "input_preproc", "output_postproc"}));
  HET_TRY(check_version(root));
  ModelProc model_proc;
  std::vector<JsonObject> inputs;
  if (root.has("input_preproc")) {
    HET_ASSIGN(inputs, root.objects("input_preproc", kMaxEntries));
  }
  for (const JsonObject& entry : inputs) {
    HET_ASSIGN(InputPreproc input, parse_input(entry, origin));
    model_proc.inputs.push_back(std::move(input));
  }
  HET_ASSIGN(const std::vector<JsonObject> outputs, root.objects("output_postproc", kMaxEntries));
  for (const JsonObject& entry : outputs) {
    HET_ASSIGN(DecoderConfig config, parse_output(entry, origin));
    model_proc.outputs.push_back(std::move(config));
  }
  return model_proc;
}

}  // namespace

Result<ModelProc> parse_model_proc(std::string_view json_text, std::string_view origin) {
  try {
    const json document = json::parse(json_text);
    return read_document(document, origin);
  } catch (const json::exception& failure) {
    return error(StatusCode::ParseError,
                 "{}: not a valid JSON document ({}); a model-proc file is text as in "
                 "pipelines/models, not the model itself",
                 origin, failure.what());
  }
}

Result<ModelProc> read_model_proc(const std::string& path) {
  HET_ASSIGN(const std::string text, read_text_file(path, kMaxModelProcBytes, "model-proc file"));
  return parse_model_proc(text, path);
}

}  // namespace het
