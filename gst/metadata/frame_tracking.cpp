#include "frame_tracking.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "analysis_mark.h"
#include "metadata.h"

namespace het::gst {
namespace {

using tracking::Box;
using tracking::Observation;

/// Longer tensors are no feature vectors: they would be kept per object and compared per frame.
constexpr int64_t kMaxFeatureLength = 16384;

/// A turned box is tracked by the upright one around it.
Box box_of(const FrameObject& object, float width, float height) {
  if (object.detection && object.detection->rotation == 0.0) {
    const ObjectDetection& box = *object.detection;
    return {static_cast<float>(box.x_min) * width, static_cast<float>(box.y_min) * height,
            static_cast<float>(box.x_max) * width, static_cast<float>(box.y_max) * height};
  }
  const auto left = static_cast<float>(object.rect.x);
  const auto top = static_cast<float>(object.rect.y);
  return {left, top, left + static_cast<float>(object.rect.width),
          top + static_cast<float>(object.rect.height)};
}

/// True for [N], [1,N], [1,N,1,1] ...
bool is_vector(const Tensor& tensor) {
  const auto longer = [](int64_t dim) { return dim != 1; };
  return std::count_if(tensor.shape().begin(), tensor.shape().end(), longer) == 1 &&
         tensor.element_count() <= kMaxFeatureLength;
}

/// An embedding if there is one, else the last vector that was attached.
std::vector<float> feature_of(const FrameObject& object) {
  const ObjectTensor* chosen = nullptr;
  for (const ObjectTensor& tensor : object.tensors.tensors) {
    if (!is_vector(tensor.values)) continue;
    if (chosen && chosen->origin.format == "cosine_distance") break;
    chosen = &tensor;
  }
  if (!chosen) return {};
  Result<std::vector<float>> values = to_float_vector(chosen->values);
  return values ? std::move(*values) : std::vector<float>();
}

Results as_detection(const tracking::SupposedObject& supposed) {
  Results results;
  Detection& detection = results.detections.emplace_back();
  detection.x_min = supposed.box.x_min;
  detection.y_min = supposed.box.y_min;
  detection.x_max = supposed.box.x_max;
  detection.y_max = supposed.box.y_max;
  detection.confidence = supposed.confidence;
  detection.label = supposed.label;
  detection.label_id = supposed.label_id;
  return results;
}

/// From the last one on: those behind a removed one have other indices.
void remove_regions(GstBuffer* buffer, const std::vector<int>& indices,
                    const std::vector<size_t>& rejected) {
  for (auto i = rejected.rbegin(); i != rejected.rend(); ++i) {
    if (auto region = RegionMeta::at(buffer, indices[*i])) region->remove(buffer);
  }
}

}  // namespace

void FrameTracking::reset() {
  tracker_->reset();
  highest_id_ = 0;
}

void FrameTracking::give_id(GstBuffer* buffer, int region, int id) {
  set_object_id(buffer, region, id);
  ++tracked_;
  if (id <= highest_id_) return;
  ids_ += static_cast<uint64_t>(id - highest_id_);
  highest_id_ = id;
}

ResultAge FrameTracking::supposed_age(const GstBuffer* buffer) {
  ResultAge age{++supposed_frames_, GST_CLOCK_TIME_NONE};
  const GstClockTime now = GST_BUFFER_PTS(buffer);
  if (GST_CLOCK_TIME_IS_VALID(now) && GST_CLOCK_TIME_IS_VALID(supposed_since_) &&
      now >= supposed_since_)
    age.time = now - supposed_since_;
  return age;
}

void FrameTracking::track(GstBuffer* buffer, const GstVideoInfo& info) {
  const auto width = static_cast<float>(GST_VIDEO_INFO_WIDTH(&info));
  const auto height = static_cast<float>(GST_VIDEO_INFO_HEIGHT(&info));
  const std::vector<FrameObject> objects =
      frame_objects(buffer, GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info));
  form_ = RegionMeta::form_of(buffer).value_or(form_);
  std::vector<Observation> observations;
  std::vector<int> indices;
  for (size_t i = 0; i < objects.size(); ++i) {
    const FrameObject& object = objects[i];
    if (is_whole_picture(object)) continue;
    Observation& seen = observations.emplace_back();
    seen.box = box_of(object, width, height);
    seen.label = object.type;
    const bool has_confidence = object.detection && object.detection->confidence;
    if (!has_confidence && tracking::takes_low_confidences(settings_.type)) seen.confidence = 1.0f;
    if (object.detection) {
      if (has_confidence) seen.confidence = static_cast<float>(*object.detection->confidence);
      seen.label_id = object.detection->label_id.value_or(0);
    }
    if (settings_.type == tracking::TrackerType::Reappearance) {
      seen.feature = feature_of(object);
      if (seen.feature.empty()) ++without_feature_;
    }
    indices.push_back(static_cast<int>(i));
  }
  const bool is_passed = observations.empty() && is_marked_not_analysed(buffer);
  const tracking::TrackedFrame tracked =
      is_passed ? tracker_->pass() : tracker_->update(observations);
  if (!observations.empty()) {
    supposed_since_ = GST_BUFFER_PTS(buffer);
    supposed_frames_ = 0;
  }
  for (size_t i = 0; i < indices.size(); ++i) {
    if (tracked.ids[i] != tracking::kNoId) give_id(buffer, indices[i], tracked.ids[i]);
  }
  remove_regions(buffer, indices, tracked.rejected);
  auto next = static_cast<int>(objects.size() - tracked.rejected.size());
  const ResultAge age = supposed_age(buffer);
  for (const tracking::SupposedObject& supposed : tracked.supposed) {
    // One that has left the picture gets no region.
    if (attach_results(buffer, info, "", form_, {{-1, as_detection(supposed)}}, &age) == 0)
      continue;
    give_id(buffer, next++, supposed.id);
  }
}

}  // namespace het::gst
