#include "inference/decoders/exchange/tensor_ids.h"

#include <algorithm>
#include <iterator>

namespace het {
namespace {

struct TensorReader {
  std::string_view id;
  std::string_view converter;
};

/// Of tensors that say alone what the model is. The order is that in which a converter wants the
/// names of its outputs.
constexpr TensorReader kTensorReaders[] = {
    {kYoloId, "yolo_v8"},
    {kYoloTurnedId, "yolo_v8_obb"},
    {kYoloPoseId, "yolo_v8_pose"},
    {kYoloMaskedId, "yolo_v8_seg"},
    {kYoloPrototypesId, "yolo_v8_seg"},
    {kYoloEndToEndId, "yolo_v26"},
    {kFaceScoresId, "boxes_scores"},
    {kSsdClassesId, "tf_detection"},
    {kSsdScoresId, "tf_detection"},
    {kClassesId, "label"},
    {kClassProbabilitiesId, "label"},
};

constexpr TensorReader kGroupReaders[] = {
    {kYoloMasksGroupId, "yolo_v8_seg"},
    {kFacesGroupId, "boxes_scores"},
    {kSsdGroupId, "tf_detection"},
};

constexpr std::pair<std::string_view, std::string_view> kOlderIds[] = {
    {"Gst.Model.ObjectDetector.Boxes", kSsdBoxesId},
    {"Gst.Model.ObjectDetector.Classes", kSsdClassesId},
    {"Gst.Model.ObjectDetector.Scores", kSsdScoresId},
    {"Gst.Model.ObjectDetector.NumDetections", kCountId},
};

std::string_view converter_of_tensor(std::string_view id) {
  const auto* const found = std::ranges::find(kTensorReaders, id, &TensorReader::id);
  return found == std::end(kTensorReaders) ? std::string_view{} : found->converter;
}

std::string_view converter_of_tensor_group(std::string_view group) {
  const auto* const found = std::ranges::find(kGroupReaders, group, &TensorReader::id);
  return found == std::end(kGroupReaders) ? converter_of_tensor(group) : found->converter;
}

/// What the ids fix beside the converter.
DecoderConfig config_of_tensors(std::string_view converter, bool logits) {
  DecoderConfig config;
  config.converter = converter;
  if (converter == "label" && logits) config.method = "softmax";
  if (converter == "boxes_scores") {
    config.box_format = "xyxy";
    config.background_class = 0;
  }
  return config;
}

}  // namespace

std::string_view newer_tensor_id(std::string_view id) {
  for (const auto& [older, newer] : kOlderIds)
    if (id == older) return newer;
  return id;
}

std::string_view older_tensor_id(std::string_view id) {
  for (const auto& [older, newer] : kOlderIds)
    if (id == newer) return older;
  return id;
}

DecoderConfig reader_of_tensors(std::string_view group,
                                const std::vector<std::pair<std::string, std::string>>& outputs) {
  const auto has = [&](std::string_view wanted) {
    return std::ranges::any_of(
        outputs, [&](const auto& output) { return newer_tensor_id(output.second) == wanted; });
  };
  std::vector<std::string_view> converters;
  for (const auto& [name, id] : outputs) {
    const std::string_view converter = converter_of_tensor(newer_tensor_id(id));
    if (!converter.empty() && std::ranges::find(converters, converter) == converters.end())
      converters.push_back(converter);
  }
  if (converters.empty() && !converter_of_tensor_group(group).empty())
    return config_of_tensors(converter_of_tensor_group(group), group == kClassesId);
  const bool mixed = has(kClassesId) && has(kClassProbabilitiesId);
  if (converters.size() != 1 || mixed) return {};
  DecoderConfig config = config_of_tensors(converters.front(), has(kClassesId));
  // The outputs that are meant, where there are others, and which is which of those that look
  // alike. Boxes belong to whoever reads the scores.
  std::vector<std::string> named;
  const auto add = [&](std::string_view wanted) {
    for (const auto& [name, id] : outputs)
      if (newer_tensor_id(id) == wanted) named.push_back(name);
  };
  const bool is_ssd = config.converter == "tf_detection";
  const bool has_parts = config.converter == "boxes_scores" || config.converter == "yolo_v8_seg";
  if (is_ssd || config.converter == "boxes_scores") add(kSsdBoxesId);
  for (const TensorReader& reader : kTensorReaders)
    if (reader.converter == config.converter) add(reader.id);
  const size_t least = is_ssd ? 3 : has_parts ? 2 : 1;
  const bool is_complete = named.size() >= least;
  if (is_ssd) add(kCountId);
  if (is_complete && (is_ssd || named.size() < outputs.size()))
    config.layer_names = std::move(named);
  return config;
}

}  // namespace het
