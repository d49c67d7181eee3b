#include "inference/decoders/plausibility.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "inference/base/log.h"

namespace het {
namespace {

constexpr float kRounding = 1e-3f;    ///< of confidences
constexpr size_t kFewObjects = 3;     ///< so few may be anything
constexpr size_t kManyObjects = 100;  ///< no more have the same score by chance
constexpr int kFirstLooks = 16;       ///< executions whose values are looked at

bool is_confidence(float value) {
  return value >= -kRounding && value <= 1.0f + kRounding;
}

std::string wrong_confidence(const Results& results) {
  const auto tell = [](float value) {
    return fmt::format(
        "a confidence is {}: scores before a sigmoid or softmax (output_sigmoid_activation, "
        "do_cls_softmax, method) or another converter",
        value);
  };
  for (const Detection& d : results.detections) {
    if (!is_confidence(d.confidence)) return tell(d.confidence);
  }
  for (const Classification& c : results.classifications) {
    if (!is_confidence(c.confidence)) return tell(c.confidence);
  }
  return {};
}

/// Half of the objects or more, where there are some.
template <class Predicate>
bool most(const std::vector<Detection>& detections, const Predicate& predicate) {
  return detections.size() >= kFewObjects &&
         2 * static_cast<size_t>(std::ranges::count_if(detections, predicate)) > detections.size();
}

std::string wrong_places(const Results& results, float width, float height) {
  const auto far_outside = [&](const Detection& d) {
    const float x = (d.x_min + d.x_max) / 2;
    const float y = (d.y_min + d.y_max) / 2;
    return !(x > -width && x < 2 * width && y > -height && y < 2 * height);
  };
  if (most(results.detections, far_outside))
    return "most boxes lie far outside the picture: coordinates in another unit or order "
           "(another converter, box_format)";
  const auto is_point = [](const Detection& d) {
    return d.x_max - d.x_min < 1.5f && d.y_max - d.y_min < 1.5f;
  };
  if (width > 32 && height > 32 && most(results.detections, is_point))
    return "most boxes have no size: coordinates in 0..1 that are read as pixels (another "
           "converter)";
  return {};
}

std::string one_score(const Results& results) {
  if (results.detections.size() < kManyObjects) return {};
  std::map<int, size_t> counts;
  for (const Detection& d : results.detections)
    ++counts[static_cast<int>(std::lround(d.confidence * 1e4f))];
  const auto most_frequent =
      std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  if (most_frequent->second < kManyObjects || 2 * most_frequent->second < results.detections.size())
    return {};
  return fmt::format(
      "{} of {} objects have the score {:.4f}: pixels in another range or order than the model "
      "wants (range, mean, std, color_space of input_preproc)",
      most_frequent->second, results.detections.size(),
      static_cast<double>(most_frequent->first) / 1e4);
}

}  // namespace

std::string implausible(const Results& results, int source_width, int source_height) {
  if (std::string text = wrong_confidence(results); !text.empty()) return text;
  if (std::string text = wrong_places(results, static_cast<float>(source_width),
                                      static_cast<float>(source_height));
      !text.empty())
    return text;
  return one_score(results);
}

std::string implausible(std::span<const Tensor> outputs) {
  for (const Tensor& output : outputs) {
    if (output.type() != ElementType::Float32 || !output.is_dense()) continue;
    if (std::ranges::any_of(output.values<float>(), [](float v) { return std::isnan(v); }))
      return "an output has NaN: pixels in another range than the model wants (range, mean, std "
             "of input_preproc), or numbers beyond a narrow type (INFERENCE_PRECISION_HINT=f32)";
  }
  return {};
}

void ResultWatch::look(const std::string& name, const Results& results,
                       std::span<const Tensor> outputs, int source_width, int source_height) {
  if (told_.load(std::memory_order_relaxed)) return;
  std::string text = implausible(results, source_width, source_height);
  if (text.empty() && looked_.load(std::memory_order_relaxed) < kFirstLooks &&
      looked_.fetch_add(1, std::memory_order_relaxed) < kFirstLooks)
    text = implausible(outputs);
  if (text.empty() || told_.exchange(true)) return;
  log(LogLevel::Warning,
      "results of model '{}' are not plausible: {}; `hetero inspect` tells how it is read", name,
      text);
}

}  // namespace het
