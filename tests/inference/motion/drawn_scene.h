#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "inference/motion/motion_detector.h"

namespace het::motion_tests {

using motion::LumaPlane;
using motion::MotionDetector;
using motion::MotionFrame;
using motion::MotionSettings;

/// A textured wall, objects in front of it, light and noise; each frame is drawn anew.
class DrawnScene {
 public:
  DrawnScene(int width, int height, int stride = 0)
      : width_(width), height_(height), stride_(stride > 0 ? stride : width) {
    std::mt19937 random(7);
    std::uniform_int_distribution<int> grain(-12, 12);
    std::normal_distribution<float> normal;
    for (size_t i = 0; i < kGrains; ++i) grains_.push_back(normal(random));
    wall_.resize(static_cast<size_t>(width) * static_cast<size_t>(height));
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const double wave = 35.0 * std::sin(x / 37.0) + 25.0 * std::cos(y / 23.0);
        wall_[index(x, y, width)] = static_cast<float>(110.0 + wave + grain(random));
      }
    }
  }

  float noise = 2.0f;   ///< standard deviation in levels
  float gain = 1.0f;    ///< of the light ...
  float slope = 0.0f;   ///< ... and how it changes from the left to the right
  float offset = 0.0f;  ///< levels
  std::vector<Rect> objects;
  float object_level = 230.0f;

  /// Valid until the next call. What lies between rows is never the same.
  LumaPlane draw() {
    grain_ = random_() % (kGrains / 2);
    pixels_.resize(static_cast<size_t>(stride_) * static_cast<size_t>(height_));
    for (int y = 0; y < height_; ++y) {
      for (int x = 0; x < stride_; ++x) {
        const float level = x < width_ ? level_at(x, y) : static_cast<float>(random_() % 256);
        pixels_[index(x, y, stride_)] = static_cast<uint8_t>(std::clamp(level, 0.0f, 255.0f));
      }
    }
    return {pixels_.data(), stride_, width_, height_};
  }
  /// Draws `count` frames; returns what was said of the last one.
  MotionFrame show(MotionDetector& detector, int count = 1) {
    MotionFrame last;
    for (int i = 0; i < count; ++i) last = detector.update(draw()).value();
    return last;
  }

 private:
  static size_t index(int x, int y, int stride) {
    return static_cast<size_t>(y) * static_cast<size_t>(stride) + static_cast<size_t>(x);
  }
  float level_at(int x, int y) {
    float level = wall_[index(x, y, width_)];
    for (const Rect& object : objects) {
      if (x >= object.x && x < object.x + object.width && y >= object.y &&
          y < object.y + object.height)
        level = object_level;
    }
    const float place = 2.0f * static_cast<float>(x) / static_cast<float>(width_) - 1.0f;
    return level * (gain + slope * place) + offset + noise * grains_[grain_++ % kGrains];
  }

  int width_;
  int height_;
  int stride_;
  std::vector<float> wall_;
  std::vector<uint8_t> pixels_;
  std::mt19937 random_{11};
  static constexpr size_t kGrains = 100003;
  std::vector<float> grains_;  ///< normally distributed, from ever new places on
  size_t grain_ = 0;
};

/// Share of `object` that a region covers.
inline double covered(const Rect& object, const std::vector<Rect>& regions) {
  double best = 0.0;
  for (const Rect& region : regions) {
    const int width =
        std::min(object.x + object.width, region.x + region.width) - std::max(object.x, region.x);
    const int height =
        std::min(object.y + object.height, region.y + region.height) - std::max(object.y, region.y);
    if (width > 0 && height > 0)
      best = std::max(best, double(width) * height / (double(object.width) * object.height));
  }
  return best;
}

}  // namespace het::motion_tests
