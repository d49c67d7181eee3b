#include "serving/tune/paired_ratio.h"

#include <algorithm>
#include <cmath>

namespace het::serving {
namespace {

/// Below it a first pair tells enough.
constexpr double kClearlySlower = 0.8;
/// So much in each of some first pairs is more than any noise that leaves a machine usable.
constexpr double kClearGain = 1.5;
constexpr size_t kClearPairs = 3;
constexpr double kWantedConfidence = 0.95;

/// That the true median lies between the `cut`-th smallest and largest of so many (from 0).
double confidence_of(size_t pairs, size_t cut) {
  double outside = 0;
  double ways = 1;
  for (size_t i = 0; i <= cut; ++i) {
    outside += ways;
    ways *= static_cast<double>(pairs - i) / static_cast<double>(i + 1);
  }
  return std::max(0.0, 1 - 2 * outside * std::pow(0.5, static_cast<double>(pairs)));
}

}  // namespace

RatioInterval ratio_interval(std::vector<double> ratios) {
  std::ranges::sort(ratios);
  const size_t pairs = ratios.size();
  const size_t half = pairs / 2;
  size_t cut = 0;
  while (2 * (cut + 1) < pairs && confidence_of(pairs, cut + 1) >= kWantedConfidence) ++cut;
  RatioInterval interval;
  interval.median = pairs % 2 == 1 ? ratios[half] : (ratios[half - 1] + ratios[half]) / 2;
  interval.low = ratios[cut];
  interval.high = ratios[pairs - 1 - cut];
  interval.confidence = confidence_of(pairs, cut);
  interval.pairs = pairs;
  return interval;
}

PairVerdict judge_pairs(const std::vector<double>& ratios) {
  if (ratios.empty()) return PairVerdict::Undecided;
  const auto below = static_cast<size_t>(
      std::ranges::count_if(ratios, [](double ratio) { return ratio <= kLeastGain; }));
  const bool is_slow = std::ranges::any_of(ratios, [](double r) { return r < kClearlySlower; });
  if (below > 1 || is_slow) return PairVerdict::NoGain;
  const bool is_clear = std::ranges::all_of(ratios, [](double r) { return r >= kClearGain; });
  if (is_clear && ratios.size() >= kClearPairs) return PairVerdict::Gain;
  if (below == 0 && ratios.size() >= kLeastPairs) return PairVerdict::Gain;
  return ratios.size() >= kMostPairs ? PairVerdict::Gain : PairVerdict::Undecided;
}

}  // namespace het::serving
