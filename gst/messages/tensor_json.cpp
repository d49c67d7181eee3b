#include "tensor_json.h"

#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "gst/metadata/structure_fields.h"

namespace het::gst {
namespace {

using nlohmann::json;

/// A key only where there is something to say.
void set_text_key(json& entry, const char* key, const std::string& text) {
  if (!text.empty()) entry[key] = text;
}

void set_origin(json& entry, const TensorOrigin& origin) {
  set_text_key(entry, "name", origin.attribute);
  set_text_key(entry, "format", origin.format);
  set_text_key(entry, "layer_name", origin.layer_name);
  set_text_key(entry, "model_name", origin.model_name);
}

template <class T>
json integers(const Tensor& tensor) {
  json values = json::array();
  for (T value : tensor.values<T>()) values.push_back(static_cast<int64_t>(value));
  return values;
}

json values_to_json(const Tensor& tensor) {
  switch (tensor.type()) {
    case ElementType::UInt8:
      return integers<uint8_t>(tensor);
    case ElementType::Int8:
      return integers<int8_t>(tensor);
    case ElementType::UInt16:
      return integers<uint16_t>(tensor);
    case ElementType::Int16:
      return integers<int16_t>(tensor);
    case ElementType::UInt32:
      return integers<uint32_t>(tensor);
    case ElementType::Int32:
      return integers<int32_t>(tensor);
    case ElementType::Int64:
      return integers<int64_t>(tensor);
    default:
      break;
  }
  json values = json::array();
  const Result<std::vector<float>> floats = to_float_vector(tensor);
  if (!floats) return values;
  for (float value : *floats) values.push_back(shortest(static_cast<double>(value)));
  return values;
}

json tensor_to_json(const TensorOrigin& origin, const Tensor& tensor) {
  json entry = {{"precision", precision_name(tensor.type())},
                {"layout", tensor.rank() == 2 ? "NC" : "ANY"},
                {"dims", tensor.shape()},
                {"data", values_to_json(tensor)}};
  set_origin(entry, origin);
  return entry;
}

json keypoints_to_json(const ObjectKeypoints& keypoints) {
  json points = json::array();
  for (size_t i = 0; i < keypoints.size(); ++i) {
    const bool found = keypoints.found(i);
    json point = {{"x", found ? shortest(static_cast<double>(keypoints.x(i))) : json()},
                  {"y", found ? shortest(static_cast<double>(keypoints.y(i))) : json()},
                  {"confidence", shortest(keypoints.confidences[i])}};
    if (!keypoints.names.empty()) point["name"] = keypoints.names[i];
    points.push_back(std::move(point));
  }
  json entry = {{"points", std::move(points)}};
  set_origin(entry, keypoints.origin);
  if (keypoints.confidence) entry["confidence"] = shortest(*keypoints.confidence);
  return entry;
}

/// How many places each class has.
json segmentation_to_json(const ObjectSegmentation& segmentation) {
  std::map<uint16_t, int64_t> counts;
  const auto cells = static_cast<size_t>(segmentation.values.element_count());
  for (size_t cell = 0; cell < cells; ++cell) ++counts[segmentation.class_id(cell)];
  json classes = json::array();
  for (const auto& [id, count] : counts) {
    json entry = {{"label_id", id}, {"pixels", count}};
    if (id < segmentation.labels.size()) entry["label"] = segmentation.labels[id];
    classes.push_back(std::move(entry));
  }
  json entry = {{"width", segmentation.columns()},
                {"height", segmentation.rows()},
                {"classes", std::move(classes)}};
  set_origin(entry, segmentation.origin);
  return entry;
}

/// How many places of the box belong to the object.
json mask_to_json(const ObjectMask& mask) {
  int64_t covered = 0;
  const auto cells = static_cast<size_t>(mask.values.element_count());
  for (size_t cell = 0; cell < cells; ++cell) covered += mask.covers(cell) ? 1 : 0;
  json entry = {{"width", mask.columns()}, {"height", mask.rows()}, {"pixels", covered}};
  set_origin(entry, mask.origin);
  return entry;
}

json picture_to_json(const ObjectPicture& picture) {
  json entry = {{"width", picture.width}, {"height", picture.height}};
  set_origin(entry, picture.origin);
  entry["format"] = picture.format;
  return entry;
}

template <class T>
void add_list(json& object, const char* key, const std::vector<T>& items,
              json (*to_json)(const T&)) {
  for (const T& item : items) object[key].push_back(to_json(item));
}

}  // namespace

json shortest(double value) {
  if (!std::isfinite(value)) return {};
  return std::strtod(fmt::format("{}", static_cast<float>(value)).c_str(), nullptr);
}

void add_tensor_summaries(const ObjectTensors& tensors, json& object) {
  add_list(object, "keypoints", tensors.keypoints, keypoints_to_json);
  add_list(object, "segmentations", tensors.segmentations, segmentation_to_json);
  add_list(object, "masks", tensors.masks, mask_to_json);
  add_list(object, "pictures", tensors.pictures, picture_to_json);
}

json tensors_to_json(const ObjectTensors& tensors) {
  json list = json::array();
  for (const ObjectTensor& tensor : tensors.tensors)
    list.push_back(tensor_to_json(tensor.origin, tensor.values));
  for (const ObjectKeypoints& keypoints : tensors.keypoints) {
    json entry = tensor_to_json(keypoints.origin, keypoints.values);
    if (!keypoints.names.empty()) entry["point_names"] = keypoints.names;
    for (const auto& [from, to] : keypoints.connections) {
      entry["point_connections"].push_back(from);
      entry["point_connections"].push_back(to);
    }
    list.push_back(std::move(entry));
  }
  for (const ObjectSegmentation& segmentation : tensors.segmentations)
    list.push_back(tensor_to_json(segmentation.origin, segmentation.values));
  for (const ObjectMask& mask : tensors.masks)
    list.push_back(tensor_to_json(mask.origin, mask.values));
  return list;
}

}  // namespace het::gst
