#include "serving/tune/detections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace het::serving {
namespace {

using Object = RecordedFrame::Object;

constexpr double kLeastIou = 0.5;
/// Of sums of equal numbers.
constexpr double kRounding = 1e-9;

double overlap(double begin, double length, double other_begin, double other_length) {
  return std::min(begin + length, other_begin + other_length) - std::max(begin, other_begin);
}

double iou(const Object& a, const Object& b) {
  const double width = overlap(a.left, a.width, b.left, b.width);
  const double height = overlap(a.top, a.height, b.top, b.height);
  if (width <= 0 || height <= 0) return 0;
  const double both = width * height;
  return both / (a.width * a.height + b.width * b.height - both);
}

/// Sums of one comparison.
struct Sums {
  size_t pairs = 0;
  double box = 0;
  double confidence = 0;
  size_t attributes = 0;
};

/// Pairs of the largest IoU first.
void match_frame(const std::vector<Object>& given, const std::vector<Object>& other, Sums& sums) {
  std::vector<std::tuple<double, size_t, size_t>> candidates;
  for (size_t i = 0; i < given.size(); ++i) {
    for (size_t j = 0; j < other.size(); ++j) {
      if (given[i].label != other[j].label) continue;
      const double value = iou(given[i], other[j]);
      if (value >= kLeastIou) candidates.emplace_back(-value, i, j);
    }
  }
  std::ranges::sort(candidates);
  std::vector<bool> is_taken(given.size());
  std::vector<bool> is_other_taken(other.size());
  for (const auto& [value, i, j] : candidates) {
    if (is_taken[i] || is_other_taken[j]) continue;
    is_taken[i] = is_other_taken[j] = true;
    ++sums.pairs;
    sums.box += std::max(0.0, 1 + value);
    sums.confidence += std::abs(given[i].confidence - other[j].confidence);
    if (given[i].attributes != other[j].attributes) ++sums.attributes;
  }
}

}  // namespace

bool DetectionDifference::exceeds(double bound) const {
  return std::max({unmatched, box, confidence, attributes}) > bound + kRounding;
}

std::string DetectionDifference::text() const {
  return fmt::format(
      "{:.1f} % of {} objects without partner, boxes {:.2f} %, confidence {:.2f} %, attributes "
      "{:.1f} %",
      100 * unmatched, objects, 100 * box, 100 * confidence, 100 * attributes);
}

DetectionDifference compare_recordings(const Recording& given, const Recording& other,
                                       size_t step) {
  DetectionDifference difference;
  Sums sums;
  for (const auto& [element, frames] : given) {
    const auto found = other.find(element);
    if (found == other.end()) continue;
    const size_t count = std::min(frames.size(), found->second.size());
    for (size_t i = 0; i < count; i += step) {
      ++difference.frames;
      difference.objects += frames[i].size() + found->second[i].size();
      match_frame(frames[i], found->second[i], sums);
    }
  }
  const auto share = [](double part, size_t all) {
    return all == 0 ? 0.0 : part / static_cast<double>(all);
  };
  difference.unmatched =
      share(static_cast<double>(difference.objects - 2 * sums.pairs), difference.objects);
  difference.box = share(sums.box, sums.pairs);
  difference.confidence = share(sums.confidence, sums.pairs);
  difference.attributes = share(static_cast<double>(sums.attributes), sums.pairs);
  return difference;
}

size_t objects_of(const Recording& recording) {
  size_t count = 0;
  for (const auto& [element, frames] : recording) {
    for (const auto& frame : frames) count += frame.size();
  }
  return count;
}

}  // namespace het::serving
