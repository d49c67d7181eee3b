#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "inference/decoders/descriptors/model_metadata.h"
#include "inference/decoders/labels.h"

namespace het {
namespace {

using nlohmann::json;

/// The value under a key, or null where the document is no object or has no such key.
const json& at(const json& document, const char* key) {
  static const json kNone;
  if (!document.is_object()) return kNone;
  const auto found = document.find(key);
  return found == document.end() ? kNone : *found;
}

/// What results the architectures of transformers (and those that follow its naming) give.
struct Architecture {
  const char* part;  ///< of the name in config.json's "architectures"
  const char* converter;
  bool softmax;  ///< scores are logits of classes that exclude each other
};
constexpr Architecture kArchitectures[] = {
    {"RTDetr", "rtdetr", false},
    {"RtDetr", "rtdetr", false},
    {"DFineFor", "rtdetr", false},
    {"RfDetrForInstanceSegmentation", "rfdetr_seg", false},
    {"RfDetr", "rfdetr", false},
    {"ConditionalDetrForObjectDetection", "rfdetr", false},
    {"DeformableDetrForObjectDetection", "rfdetr", false},
    {"DabDetrForObjectDetection", "rfdetr", false},
    {"LwDetrForObjectDetection", "rfdetr", false},
    {"TableTransformerForObjectDetection", "rfdetr", true},
    {"DetrForObjectDetection", "rfdetr", true},
    {"YolosForObjectDetection", "rfdetr", true},
    {"ForImageClassification", "label", true},
    {"ForSemanticSegmentation", "semantic_segmentation", false},
    {"ForUniversalSegmentation", "maskformer", false},
    {"MaskFormerForInstanceSegmentation", "maskformer", false},
    {"ForDepthEstimation", "depth_estimation", false},
    {"VitPoseForPoseEstimation", "keypoints_vitpose", false},
};

const Architecture* architecture_of(const std::string& name) {
  for (const Architecture& architecture : kArchitectures) {
    if (name.find(architecture.part) != std::string::npos) return &architecture;
  }
  return nullptr;
}

std::vector<std::string> labels_of(const json& config) {
  std::vector<std::string> labels;
  const json& map = at(config, "id2label");
  if (!map.is_object()) return labels;
  for (const auto& [key, value] : map.items()) {
    size_t id = 0;
    const auto [end, failure] = std::from_chars(key.data(), key.data() + key.size(), id);
    if (failure != std::errc{} || end != key.data() + key.size() || id >= kMaxLabels ||
        !value.is_string())
      return {};
    if (id >= labels.size()) labels.resize(id + 1);
    labels[id] = value.get<std::string>();
  }
  return labels;
}

std::optional<std::array<float, 3>> channels_of(const json& value) {
  std::array<float, 3> channels{};
  if (!value.is_array() || (value.size() != 3 && value.size() != 1)) return std::nullopt;
  for (size_t c = 0; c < channels.size(); ++c) {
    const json& item = value[value.size() == 1 ? 0 : c];
    if (!item.is_number()) return std::nullopt;
    channels[c] = item.get<float>();
  }
  return channels;
}

bool flag(const json& document, const char* key, bool fallback) {
  const json& value = at(document, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

/// Height and width from "size" or "crop_size": an object, or one number for both.
Shape size_of(const json& value) {
  const auto side = [](const json& number) -> int64_t {
    const bool fits = number.is_number_integer() && number.get<double>() >= 1.0 &&
                      number.get<double>() <= 65536.0;
    return fits ? number.get<int64_t>() : kUnknownDim;
  };
  if (value.is_object()) return {side(at(value, "height")), side(at(value, "width"))};
  return {side(value), side(value)};
}

/// transformers' BaseImageProcessor: RGB, (pixel * rescale_factor - image_mean) / image_std.
InputPreproc preproc_of(const json& processor) {
  InputPreproc input;
  input.color_given = true;
  PreprocessDesc& desc = input.preprocess;
  desc.color_order = ColorOrder::RGB;
  const json& factor = at(processor, "rescale_factor");
  const bool rescaled = flag(processor, "do_rescale", true);
  const double scale = factor.is_number() ? factor.get<double>() : 1.0 / 255.0;
  desc.range_high = rescaled && scale > 0.0 ? static_cast<float>(255.0 * scale) : 255.0f;
  const auto mean = channels_of(at(processor, "image_mean"));
  const auto deviation = channels_of(at(processor, "image_std"));
  const bool usable = deviation && std::all_of(deviation->begin(), deviation->end(),
                                               [](float value) { return value > 0.0f; });
  // Processors that know an order of channels, and GLPN's, do not normalise unless told to.
  const json& type = at(processor, "image_processor_type");
  const bool flips = at(processor, "do_flip_channel_order").is_boolean();
  const bool normalises =
      !flips && !(type.is_string() && type.get<std::string>().starts_with("GLPN"));
  if (flag(processor, "do_flip_channel_order", false)) desc.color_order = ColorOrder::BGR;
  if (flag(processor, "do_normalize", normalises) && mean && usable) {
    desc.mean = *mean;
    desc.std = *deviation;
  }
  const bool crop = flag(processor, "do_center_crop", false);
  if (crop) desc.resize = ResizeMode::CentralCrop;
  const Shape size = size_of(at(processor, crop ? "crop_size" : "size"));
  if (is_static(size)) input.shape = {kUnknownDim, 3, size[0], size[1]};
  return input;
}

/// timm's config.json: its models have a section on how pictures get in.
ModelMetadata read_timm_metadata(const json& config) {
  const json& trained = at(config, "pretrained_cfg");
  const json& name = at(config, "architecture");
  ModelMetadata metadata;
  if (!trained.is_object() || !name.is_string()) return metadata;
  metadata.source = "config.json beside the file (timm, " + name.get<std::string>() + ")";
  // Without classes it gives the features that a classifier would take.
  const json& classes = at(config, "num_classes");
  const bool has_classes = !classes.is_number_integer() || classes.get<int64_t>() != 0;
  metadata.output.converter = has_classes ? "label" : "embedding";
  if (has_classes) metadata.output.method = "softmax";
  const json& labels = at(config, "label_names");
  if (has_classes && labels.is_array() && labels.size() <= kMaxLabels &&
      std::ranges::all_of(labels, [](const json& label) { return label.is_string(); }))
    metadata.output.labels = labels.get<std::vector<std::string>>();
  InputPreproc input;
  input.color_given = true;
  PreprocessDesc& desc = input.preprocess;
  desc.color_order = ColorOrder::RGB;
  desc.range_high = 1.0f;
  const json& mode = at(trained, "crop_mode");
  const bool whole = mode.is_string() && mode.get<std::string>() == "squash";
  desc.resize = whole ? ResizeMode::Stretch : ResizeMode::CentralCrop;
  const auto mean = channels_of(at(trained, "mean"));
  const auto deviation = channels_of(at(trained, "std"));
  if (mean && deviation && std::ranges::all_of(*deviation, [](float v) { return v > 0.0f; })) {
    desc.mean = *mean;
    desc.std = *deviation;
  }
  const json& size = at(trained, "input_size");
  if (size.is_array() && size.size() == 3) {
    const Shape sides = {size_of(size[1])[0], size_of(size[2])[0]};
    if (is_static(sides)) input.shape = {kUnknownDim, 3, sides[0], sides[1]};
  }
  metadata.input = input;
  return metadata;
}

}  // namespace

ModelMetadata read_hugging_face_metadata(const std::string& config_json,
                                         const std::string& preprocessor_json) {
  ModelMetadata metadata;
  const json config = json::parse(config_json, nullptr, /*allow_exceptions=*/false);
  const json& names = at(config, "architectures");
  const bool named = names.is_array() && !names.empty() && names[0].is_string();
  const Architecture* architecture = named ? architecture_of(names[0].get<std::string>()) : nullptr;
  if (architecture == nullptr) return read_timm_metadata(config);
  metadata.source = "config.json beside the file (" + names[0].get<std::string>() + ")";
  metadata.output.converter = architecture->converter;
  metadata.output.labels = labels_of(config);
  if (architecture->softmax) {
    metadata.output.method = "softmax";
    metadata.output.class_softmax = true;
  }
  const json processor = json::parse(preprocessor_json, nullptr, /*allow_exceptions=*/false);
  if (processor.is_object()) metadata.input = preproc_of(processor);
  return metadata;
}

}  // namespace het
