#include "inference/decoders/custom/custom_sink.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <optional>

#include "inference/decoders/custom/custom_tensor.h"
#include "inference/decoders/labels.h"

namespace het {
namespace {

constexpr size_t kMaxResults = 10000;
constexpr size_t kMaxTextBytes = 64 * 1024;
constexpr size_t kMaxTensorBytes = size_t{256} << 20;
constexpr uint32_t kCustomSinkMaxPoints = 4096;

/// A copy of a text that may be null; fails when it is no UTF-8 or has no end near.
Result<std::string> copy_text(const char* text, std::string_view what) {
  if (text == nullptr) return std::string();
  const size_t length = strnlen(text, kMaxTextBytes + 1);
  std::string copy(text, std::min(length, kMaxTextBytes));
  if (length > kMaxTextBytes || !is_utf8(copy))
    return error(StatusCode::InvalidArgument, "{} is no UTF-8 text of at most {} bytes", what,
                 kMaxTextBytes);
  return copy;
}

/// Structs of another version may be longer, never shorter.
template <class T>
Status check_struct(const T* value, std::string_view what) {
  if (value != nullptr && value->struct_size >= sizeof(T)) return {};
  return error(StatusCode::InvalidArgument, "{} is null or its struct_size {} is below {}", what,
               value == nullptr ? 0 : value->struct_size, sizeof(T));
}

std::string_view name_of(const HetDetection*) {
  return "a detection";
}
std::string_view name_of(const HetClassification*) {
  return "a classification";
}
std::string_view name_of(const HetTensorResult*) {
  return "a tensor";
}
std::string_view name_of(const HetKeypoints*) {
  return "keypoints";
}

}  // namespace

CustomSink::CustomSink(const std::vector<std::string>* labels) : labels_(labels) {
  table_.struct_size = sizeof(HetResultSink);
  table_.context = this;
  table_.add_detection = &CustomSink::add<HetDetection>;
  table_.add_classification = &CustomSink::add<HetClassification>;
  table_.add_tensor = &CustomSink::add<HetTensorResult>;
  table_.add_keypoints = &CustomSink::add<HetKeypoints>;
  table_.set_error = &CustomSink::set_error;
}

template <class T>
int32_t CustomSink::add(void* context, const T* value) noexcept {
  auto* self = static_cast<CustomSink*>(context);
  try {
    Status status = check_struct(value, name_of(value));
    if (status.ok()) status = self->check_room();
    if (status.ok()) status = self->enter(*value);
    if (status.ok()) return 0;
    if (self->complaint_.empty()) self->complaint_ = status.with_context(name_of(value)).message();
  } catch (const std::exception& failure) {  // no memory
    set_error(context, failure.what());
  }
  return -1;
}

void CustomSink::set_error(void* context, const char* message) noexcept {
  auto* self = static_cast<CustomSink*>(context);
  try {
    if (!self->complaint_.empty() || message == nullptr) return;
    self->complaint_.assign(message, strnlen(message, kMaxTextBytes));
  } catch (const std::exception&) {
    self->complaint_.clear();
  }
}

Status CustomSink::check_room() const {
  const size_t count = results_.detections.size() + results_.classifications.size() +
                       results_.tensors.size() + results_.keypoints.size();
  if (count < kMaxResults) return {};
  return error(StatusCode::OutOfMemory, "there are {} results of one picture already", count);
}

Status CustomSink::enter(const HetDetection& value) {
  for (float number : {value.x_min, value.y_min, value.x_max, value.y_max, value.confidence}) {
    if (!std::isfinite(number))
      return error(StatusCode::InvalidArgument, "box {},{},{},{} with confidence {} is not finite",
                   value.x_min, value.y_min, value.x_max, value.y_max, value.confidence);
  }
  Detection found;
  found.x_min = value.x_min;
  found.y_min = value.y_min;
  found.x_max = value.x_max;
  found.y_max = value.y_max;
  found.confidence = value.confidence;
  found.label_id = value.label_id;
  HET_ASSIGN(found.label, copy_text(value.label, "the label"));
  const auto id = static_cast<size_t>(std::max(value.label_id, 0));
  if (value.label == nullptr && value.label_id >= 0 && labels_ != nullptr && id < labels_->size())
    found.label = (*labels_)[id];
  results_.detections.push_back(std::move(found));
  return {};
}

Status CustomSink::enter(const HetClassification& value) {
  if (!std::isfinite(value.confidence))
    return error(StatusCode::InvalidArgument, "confidence {} is not finite", value.confidence);
  Classification found;
  HET_ASSIGN(found.attribute, copy_text(value.attribute, "the attribute"));
  HET_ASSIGN(found.label, copy_text(value.label, "the label"));
  found.label_id = std::max(value.label_id, kNoLabelId);
  found.confidence = value.confidence;
  const auto id = static_cast<size_t>(std::max(value.label_id, 0));
  if (value.label == nullptr && value.label_id >= 0 && labels_ != nullptr && id < labels_->size())
    found.label = (*labels_)[id];
  results_.classifications.push_back(std::move(found));
  return {};
}

Status CustomSink::enter(const HetTensorResult& value) {
  TensorResult result;
  HET_ASSIGN(result.attribute, copy_text(value.attribute, "the attribute"));
  HET_ASSIGN(result.format, copy_text(value.format, "the format"));
  HET_ASSIGN(result.layer, copy_text(value.tensor.name, "the name"));
  HET_ASSIGN(result.values, copy_tensor_view(value.tensor, kMaxTensorBytes - tensor_bytes_));
  tensor_bytes_ += result.values.size_bytes();
  results_.tensors.push_back(std::move(result));
  return {};
}

Status CustomSink::enter(const HetKeypoints& value) {
  if (value.point_count == 0 || value.point_count > kCustomSinkMaxPoints ||
      value.points == nullptr || value.connection_count > kCustomSinkMaxPoints)
    return error(StatusCode::InvalidArgument,
                 "{} points with {} lines are not 1 to {} with at most as many lines",
                 value.point_count, value.connection_count, kCustomSinkMaxPoints);
  Keypoints found;
  HET_ASSIGN(found.format, copy_text(value.format, "the format"));
  found.confidence = std::isfinite(value.confidence) ? value.confidence : 0.0f;
  for (uint32_t i = 0; i < value.point_count; ++i) {
    const Point point{value.points[2 * i], value.points[2 * i + 1]};
    const float confidence = value.confidences != nullptr ? value.confidences[i] : 1.0f;
    const bool counts = std::isfinite(point.x) && std::isfinite(point.y) && confidence > 0.0f;
    found.landmarks.points.push_back(counts ? point : Point{-1.0f, -1.0f});
    found.landmarks.confidences.push_back(counts ? std::min(confidence, 1.0f) : 0.0f);
    if (value.names == nullptr) continue;
    HET_ASSIGN(std::string name, copy_text(value.names[i], "a point's name"));
    found.landmarks.names.push_back(std::move(name));
  }
  for (uint32_t i = 0; value.connections != nullptr && i < value.connection_count; ++i) {
    const uint32_t from = value.connections[2 * i];
    const uint32_t to = value.connections[2 * i + 1];
    if (from >= value.point_count || to >= value.point_count)
      return error(StatusCode::InvalidArgument, "a line joins {} and {} of {} points", from, to,
                   value.point_count);
    found.landmarks.connections.emplace_back(static_cast<int>(from), static_cast<int>(to));
  }
  results_.keypoints.push_back(std::move(found));
  return {};
}

}  // namespace het
