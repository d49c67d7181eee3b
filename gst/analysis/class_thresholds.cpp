#include "class_thresholds.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "inference/devices/properties.h"

namespace het::gst {
namespace {

constexpr size_t kNamedLabels = 20;

std::string first_labels(const std::vector<std::string>& labels) {
  std::string text;
  for (size_t i = 0; i < std::min(labels.size(), kNamedLabels); ++i)
    text += (i == 0 ? "" : ", ") + labels[i];
  return labels.size() > kNamedLabels
             ? fmt::format("{} and {} more", text, labels.size() - kNamedLabels)
             : text;
}

Status check_class(const std::string& name, const std::vector<std::string>& labels) {
  if (!labels.empty()) {
    if (std::find(labels.begin(), labels.end(), name) != labels.end()) return {};
    return error(StatusCode::InvalidArgument, "the model has no class '{}'; it has {}", name,
                 first_labels(labels));
  }
  if (!name.empty() && name.find_first_not_of("0123456789") == std::string::npos) return {};
  return error(StatusCode::InvalidArgument,
               "the model has no class '{}': it has no labels; give the number of a class, or set "
               "labels or labels-file",
               name);
}

}  // namespace

Result<ClassThresholds> ClassThresholds::parse(const std::string& text, const VisionModel& model) {
  ClassThresholds thresholds;
  if (text.empty()) return thresholds;
  const auto in_property = [](const Status& status) {
    return Failure(status.with_context("property threshold-per-class"));
  };
  auto values = parse_properties(text);
  if (!values) return in_property(values.error());
  for (const auto& [name, value] : *values) {
    const Status known = check_class(name, model.labels());
    if (!known.ok()) return in_property(known);
    float number = -1.0f;
    const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (failure != std::errc() || end != value.data() + value.size() || !(number >= 0.0f) ||
        number > 1.0f) {
      return in_property(error(StatusCode::InvalidArgument,
                               "class '{}': '{}' is not a number from 0 to 1", name, value));
    }
    thresholds.by_label_[name] = number;
  }
  return thresholds;
}

const float* ClassThresholds::of(const Detection& detection) const {
  const auto found = by_label_.find(detection.label.empty() ? std::to_string(detection.label_id)
                                                            : detection.label);
  return found == by_label_.end() ? nullptr : &found->second;
}

Result<Results> ClassThresholds::apply(const Read& read, float threshold) const {
  HET_ASSIGN(Results results, read(threshold));
  if (by_label_.empty()) return results;
  // A second reading, as low as any class asks for: only the decoder knows its own threshold.
  float lowest = 1.0f;
  for (const auto& [label, value] : by_label_) lowest = std::min(lowest, value);
  HET_ASSIGN(Results of_classes, read(std::max(lowest, std::numeric_limits<float>::min())));
  std::erase_if(results.detections, [&](const Detection& found) { return of(found) != nullptr; });
  for (Detection& found : of_classes.detections) {
    const float* wanted = of(found);
    if (wanted && found.confidence >= *wanted) results.detections.push_back(std::move(found));
  }
  std::stable_sort(
      results.detections.begin(), results.detections.end(),
      [](const Detection& a, const Detection& b) { return a.confidence > b.confidence; });
  return results;
}

}  // namespace het::gst
