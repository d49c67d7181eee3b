#include "inference/decoders/descriptors/model_proc_text.h"

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "inference/decoders/decoder_registry.h"

namespace het {
namespace {

using Json = nlohmann::ordered_json;

/// The shortest decimal number that is this float.
Json number(float value) {
  return Json::parse(fmt::format("{}", value));
}

template <class Values>
Json numbers(const Values& values) {
  Json list = Json::array();
  for (const float value : values) list.push_back(number(value));
  return list;
}

Json params_of(const PreprocessDesc& desc) {
  Json params = Json::object();
  if (desc.resize == ResizeMode::LetterboxCentre) params["resize"] = "aspect-ratio";
  if (desc.resize == ResizeMode::LetterboxTopLeft) params["resize"] = "aspect-ratio-pad";
  if (desc.resize == ResizeMode::Stretch) params["resize"] = "no";
  if (desc.resize == ResizeMode::CentralCrop) params["crop"] = "central-resize";
  params["color_space"] = desc.color_order == ColorOrder::RGB   ? "RGB"
                          : desc.color_order == ColorOrder::BGR ? "BGR"
                                                                : "GRAYSCALE";
  params["range"] = numbers(std::array{desc.range_low, desc.range_high});
  const PreprocessDesc defaults;
  if (desc.mean != defaults.mean || desc.std != defaults.std) {
    params["mean"] = numbers(desc.mean);
    params["std"] = numbers(desc.std);
  }
  if (desc.pad_value != defaults.pad_value)
    params["padding"] = {{"fill_value", numbers(desc.pad_value)}};
  if (desc.border_x != 0 || desc.border_y != 0) {
    params["padding"]["stride_x"] = desc.border_x;
    params["padding"]["stride_y"] = desc.border_y;
  }
  return params;
}

Json entry_of(const InputPreproc& input) {
  Json entry;
  if (!input.layer_name.empty()) entry["layer_name"] = input.layer_name;
  entry["format"] = input.format;
  if (input.is_bytes) entry["precision"] = "U8";
  if (input.layout_given) {
    entry["layout"] = input.preprocess.tensor_layout == Layout::NHWC ? "NHWC" : "NCHW";
  }
  if (!input.shape.empty()) {
    Shape shape = input.shape;
    if (shape[0] == kUnknownDim) shape[0] = 1;
    if (is_static(shape)) entry["shape"] = shape;
  }
  if (input.format == "image") {
    entry["params"] = params_of(input.preprocess);
    if (!input.widths.empty()) entry["params"]["widths"] = input.widths;
    if (input.fourth_channel) entry["params"]["fourth_channel"] = number(*input.fourth_channel);
  } else if (input.format == "image_info") {
    entry["params"] = {{"order", input.width_first ? "width,height" : "height,width"}};
    if (input.scale != 1.0f) entry["params"]["scale"] = number(input.scale);
  } else if (input.format == "constant") {
    entry["params"] = {{"value", numbers(input.values)}};
  }
  return entry;
}

/// Writes what differs from an entry that says nothing.
class OutputEntry {
 public:
  explicit OutputEntry(const DecoderConfig& config) {
    if (!config.converter.empty()) json_["converter"] = config.converter;
    if (config.layer_names.size() == 1) json_["layer_name"] = config.layer_names.front();
    if (config.layer_names.size() > 1) json_["layer_names"] = config.layer_names;
    add("attribute_name", config.attribute_name, none_.attribute_name);
    add("method", config.method, none_.method);
    add("threshold", config.threshold);
    add("iou_threshold", config.iou_threshold);
    add("pixel_threshold", config.pixel_threshold);
    add("image_threshold", config.image_threshold);
    add("normalization_scale", config.normalization_scale);
    add("unclip_ratio", config.unclip_ratio);
    add("minimum_side", config.minimum_side);
    add("binarize_threshold", config.binarize_threshold);
    add("classes", config.classes);
    add("background_class", config.background_class);
    add("bbox_number_on_cell", config.boxes_per_cell);
    add("end_class", config.end_class);
    add_list("strides", config.strides);
    for (const std::vector<float>& sizes : config.min_sizes)
      json_["min_sizes"].push_back(numbers(sizes));
    if (!config.variances.empty()) json_["variances"] = numbers(config.variances);
    if (!config.anchors.empty()) json_["anchors"] = numbers(config.anchors);
    add_list("masks", config.masks);
    if (config.cells_x > 0) json_["cells_number_x"] = config.cells_x;
    if (config.cells_y > 0) json_["cells_number_y"] = config.cells_y;
    add("box_format", config.box_format, none_.box_format);
    add("do_cls_softmax", config.class_softmax, none_.class_softmax);
    add("output_sigmoid_activation", config.sigmoid_activation, none_.sigmoid_activation);
    add("format", config.format, none_.format);
    add("layout", config.layout, none_.layout);
    if (config.text_scale != none_.text_scale) json_["text_scale"] = number(config.text_scale);
    add("text_precision", config.text_precision, none_.text_precision);
    add("min_length", config.min_length, none_.min_length);
    add("blank_class", config.blank_class, none_.blank_class);
    add("color_space", std::string(config.rgb ? "RGB" : ""), std::string());
    if (config.range_low != none_.range_low || config.range_high != none_.range_high)
      json_["range"] = numbers(std::array{config.range_low, config.range_high});
    add_list("slice", config.slice);
    add("values_per_point", config.values_per_point, none_.values_per_point);
    add("unit", config.unit, none_.unit);
    add("presence_layer", config.presence_layer, none_.presence_layer);
    add_list("point_names", config.point_names);
    add_list("point_connections", config.point_connections);
    add_list("labels", config.labels);
    drop_unknown(config.converter);
  }
  Json take() { return std::move(json_); }

 private:
  /// What metadata say besides and the converter does not take.
  void drop_unknown(const std::string& converter) {
    const DecoderDef* def = decoder_registry().find(converter);
    if (def == nullptr) return;
    constexpr std::string_view kCommon[] = {"converter", "layer_name", "layer_names",
                                            "attribute_name"};
    for (auto item = json_.begin(); item != json_.end();) {
      const bool known = std::ranges::find(kCommon, item.key()) != std::end(kCommon) ||
                         std::ranges::find(def->parameters, item.key()) != def->parameters.end();
      item = known ? std::next(item) : json_.erase(item);
    }
  }

  template <class T>
  void add(const char* key, const T& value, const T& none) {
    if (value != none) json_[key] = value;
  }
  void add(const char* key, const std::optional<float>& value) {
    if (value) json_[key] = number(*value);
  }
  void add(const char* key, const std::optional<int>& value) {
    if (value) json_[key] = *value;
  }
  template <class T>
  void add_list(const char* key, const std::vector<T>& values) {
    if (!values.empty()) json_[key] = values;
  }

  const DecoderConfig none_;
  Json json_ = Json::object();
};

}  // namespace

std::string to_text(const ModelProc& model_proc) {
  Json document;
  document["json_schema_version"] = "2.2.0";
  document["input_preproc"] = Json::array();
  for (const InputPreproc& input : model_proc.inputs)
    document["input_preproc"].push_back(entry_of(input));
  document["output_postproc"] = Json::array();
  for (const DecoderConfig& config : model_proc.outputs)
    document["output_postproc"].push_back(OutputEntry(config).take());
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_text(const InputPreproc& input) {
  return entry_of(input).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace het
