#pragma once

#include <cstddef>
#include <vector>

namespace het::motion_internal {

/// Mean levels of a small part of the picture.
struct LightSample {
  float x = 0.0f;  ///< its centre, -1..1
  float y = 0.0f;
  float before = 0.0f;  ///< of the background
  float now = 0.0f;
};

/// What the light did to all of a picture: now = before * (gain + x * gain_x + y * gain_y) +
/// offset.
struct LightChange {
  float gain = 1.0f;
  float gain_x = 0.0f;
  float gain_y = 0.0f;
  float offset = 0.0f;

  float gain_at(float x, float y) const { return gain + x * gain_x + y * gain_y; }
  float operator()(const LightSample& at) const { return at.before * gain_at(at.x, at.y) + offset; }
  /// By how many levels, in the middle one of the samples.
  float size(const std::vector<LightSample>& samples) const;
  /// What it leaves, in the middle one of the samples: little where there is only noise.
  float error(const std::vector<LightSample>& samples) const;
};

/// The change that fits most samples; those that it does not fit (what moves) have little weight.
/// None where there is none to speak of, where none fits, and for fewer than kMinLightSamples.
LightChange estimate_light(const std::vector<LightSample>& samples);
inline constexpr size_t kMinLightSamples = 12;

}  // namespace het::motion_internal
