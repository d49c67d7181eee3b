#pragma once

#include <cstddef>
#include <vector>

namespace het::serving {

/// What paired runs have shown: how many times as fast a change is.
struct RatioInterval {
  double median = 0;
  double low = 0;  ///< with `confidence` the true median lies between both
  double high = 0;
  double confidence = 0;
  size_t pairs = 0;
};

/// The interval of the sign test, which supposes nothing about how the ratios are spread: from the
/// smallest to the largest, from the second to the last but one where that is as sure as 0.95. Some
/// ratios at least.
RatioInterval ratio_interval(std::vector<double> ratios);

enum class PairVerdict { Undecided, Gain, NoGain };

/// After each pair. Gain: the lower end of the interval is above 1.01, by 6 pairs or by 9 of which
/// one may be below; of changes that are worth nothing less than 3 % get there. Three pairs of 1.5
/// and more each are enough, too. NoGain comes as
/// soon as Gain cannot be reached any more, or a change is clearly slower.
PairVerdict judge_pairs(const std::vector<double>& ratios);

/// The pairs that a gain takes at least.
inline constexpr size_t kLeastPairs = 6;
inline constexpr size_t kMostPairs = 9;
inline constexpr double kLeastGain = 1.01;

}  // namespace het::serving
