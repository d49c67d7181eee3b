#include "inference/motion/light_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace het::motion_internal {
namespace {

constexpr int kRounds = 8;
/// A smaller change is left to the background, which follows.
constexpr float kSmallestChange = 0.5f;
/// Of the change that is left at most, or the fit is none.
constexpr float kGoodFit = 0.7f;
constexpr float kLeastGain = 0.25f;
constexpr float kMostGain = 3.9f;

using Terms = std::array<double, 4>;

float median(std::vector<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Solves the symmetric, positive definite equations by elimination.
Terms solve(std::array<Terms, 4> matrix, Terms right) {
  for (size_t i = 0; i < 4; ++i) {
    for (size_t row = i + 1; row < 4; ++row) {
      const double factor = matrix[row][i] / matrix[i][i];
      for (size_t column = i; column < 4; ++column)
        matrix[row][column] -= factor * matrix[i][column];
      right[row] -= factor * right[i];
    }
  }
  for (size_t i = 4; i-- > 0;) {
    for (size_t column = i + 1; column < 4; ++column) right[i] -= matrix[i][column] * right[column];
    right[i] /= matrix[i][i];
  }
  return right;
}

/// Weighted least squares around `change`, of what it leaves; a small weight on the terms keeps
/// flat pictures from trading gain for offset.
LightChange refined(const std::vector<LightSample>& samples, const LightChange& change,
                    float scale) {
  std::array<Terms, 4> matrix{};
  Terms right{};
  for (const LightSample& sample : samples) {
    const double error = sample.now - change(sample);
    const double far = error / scale;
    const double weight = 1.0 / ((1.0 + far * far) * (1.0 + far * far));
    const double level = sample.before;
    const Terms terms{level, level * sample.x, level * sample.y, 1.0};
    for (size_t i = 0; i < 4; ++i) {
      for (size_t k = 0; k < 4; ++k) matrix[i][k] += weight * terms[i] * terms[k];
      right[i] += weight * terms[i] * error;
    }
  }
  const double count = static_cast<double>(samples.size());
  const Terms ridge{1.0 * count, 1.0 * count, 1.0 * count, 0.01 * count};
  for (size_t i = 0; i < 4; ++i) matrix[i][i] += ridge[i];
  const Terms step = solve(matrix, right);
  return {change.gain + static_cast<float>(step[0]), change.gain_x + static_cast<float>(step[1]),
          change.gain_y + static_cast<float>(step[2]), change.offset + static_cast<float>(step[3])};
}

bool is_possible(const LightChange& change) {
  const float slope = std::abs(change.gain_x) + std::abs(change.gain_y);
  return change.gain - slope >= kLeastGain && change.gain + slope <= kMostGain &&
         std::abs(change.offset) <= 255.0f;
}

}  // namespace

float LightChange::size(const std::vector<LightSample>& samples) const {
  if (samples.empty()) return 0.0f;
  std::vector<float> sizes;
  sizes.reserve(samples.size());
  for (const LightSample& sample : samples)
    sizes.push_back(std::abs((*this)(sample)-sample.before));
  return median(std::move(sizes));
}

float LightChange::error(const std::vector<LightSample>& samples) const {
  if (samples.empty()) return 0.0f;
  std::vector<float> errors;
  errors.reserve(samples.size());
  for (const LightSample& sample : samples)
    errors.push_back(std::abs(sample.now - (*this)(sample)));
  return median(std::move(errors));
}

LightChange estimate_light(const std::vector<LightSample>& samples) {
  if (samples.size() < kMinLightSamples) return {};
  const float unchanged = LightChange{}.error(samples);
  if (unchanged <= kSmallestChange) return {};
  std::vector<float> ratios;
  ratios.reserve(samples.size());
  for (const LightSample& sample : samples)
    ratios.push_back(sample.now / std::max(sample.before, 1.0f));
  LightChange change;
  change.gain = std::clamp(median(std::move(ratios)), kLeastGain, kMostGain);
  for (int round = 0; round < kRounds; ++round) {
    const float scale = std::max(3.7f * change.error(samples), 2.0f);
    change = refined(samples, change, scale);
  }
  return is_possible(change) && change.error(samples) <= kGoodFit * unchanged ? change
                                                                              : LightChange{};
}

}  // namespace het::motion_internal
