#include "inference/decoders/points/pose_grouping.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace het {
namespace {

constexpr size_t kMaxPeaks = 64;
constexpr int kSamples = 10;
constexpr float kMinFieldScore = 0.05f;
constexpr float kMinSampleShare = 0.8f;
constexpr int kMinPoints = 3;
constexpr float kMinPoseScore = 0.2f;

/// A limb joins two points; its field's x and y planes are `field` and `field + 1`. A tree from the
/// neck, so that every point but the neck is reached once.
struct Limb {
  size_t from;
  size_t to;
  size_t field;
};
constexpr std::array<Limb, 17> kLimbs{{{1, 2, 12},
                                       {1, 5, 20},
                                       {2, 3, 14},
                                       {3, 4, 16},
                                       {5, 6, 22},
                                       {6, 7, 24},
                                       {1, 8, 0},
                                       {8, 9, 2},
                                       {9, 10, 4},
                                       {1, 11, 6},
                                       {11, 12, 8},
                                       {12, 13, 10},
                                       {1, 0, 28},
                                       {0, 14, 30},
                                       {14, 16, 34},
                                       {0, 15, 32},
                                       {15, 17, 36}}};

struct Joint {
  size_t from = 0;
  size_t to = 0;
  float score = 0.0f;
};

/// A body while it grows: the peak of each point or -1.
struct Body {
  std::array<int, kPosePoints> peaks{};
  int count = 0;
  float score = 0.0f;
};

class Grouping {
 public:
  Grouping(const PoseMaps& maps, float peak_threshold) : maps_(maps) {
    for (size_t point = 0; point < kPosePoints; ++point)
      peaks_[point] =
          find_peaks(plane(maps.heat_maps, point), maps.rows, maps.columns, peak_threshold);
  }

  std::vector<Pose> run() {
    for (const Limb& limb : kLimbs) {
      for (const Joint& joint : best_joints(limb)) add_joint(limb, joint);
    }
    std::vector<Pose> poses;
    for (const Body& body : bodies_) {
      if (body.count < kMinPoints || body.score / static_cast<float>(body.count) < kMinPoseScore)
        continue;
      Pose& pose = poses.emplace_back();
      for (size_t point = 0; point < kPosePoints; ++point) {
        if (body.peaks[point] < 0) continue;
        pose.points[point] = peaks_[point][static_cast<size_t>(body.peaks[point])];
        pose.found[point] = true;
      }
    }
    return poses;
  }

 private:
  std::span<const float> plane(std::span<const float> planes, size_t index) const {
    const size_t cells = static_cast<size_t>(maps_.rows) * static_cast<size_t>(maps_.columns);
    return planes.subspan(index * cells, cells);
  }

  /// Bilinear, the border repeated.
  float sample(std::span<const float> map, float x, float y) const {
    x = std::clamp(x, 0.0f, static_cast<float>(maps_.columns - 1));
    y = std::clamp(y, 0.0f, static_cast<float>(maps_.rows - 1));
    const auto x0 = static_cast<size_t>(x);
    const auto y0 = static_cast<size_t>(y);
    const size_t x1 = std::min(x0 + 1, static_cast<size_t>(maps_.columns - 1));
    const size_t y1 = std::min(y0 + 1, static_cast<size_t>(maps_.rows - 1));
    const float wx = x - static_cast<float>(x0);
    const float wy = y - static_cast<float>(y0);
    const auto columns = static_cast<size_t>(maps_.columns);
    const float upper = map[y0 * columns + x0] * (1 - wx) + map[y0 * columns + x1] * wx;
    const float lower = map[y1 * columns + x0] * (1 - wx) + map[y1 * columns + x1] * wx;
    return upper * (1 - wy) + lower * wy;
  }

  /// How well the limb's field points from `a` to `b`; 0 where it does not.
  float limb_score(const Limb& limb, const PosePeak& a, const PosePeak& b) const {
    const float length = std::hypot(b.x - a.x, b.y - a.y);
    if (!(length > 0.0f)) return 0.0f;
    const float ux = (b.x - a.x) / length;
    const float uy = (b.y - a.y) / length;
    float sum = 0.0f;
    int count = 0;
    for (int i = 0; i < kSamples; ++i) {
      const float t = static_cast<float>(i) / (kSamples - 1);
      const float x = a.x + t * (b.x - a.x);
      const float y = a.y + t * (b.y - a.y);
      const float score = ux * sample(plane(maps_.fields, limb.field), x, y) +
                          uy * sample(plane(maps_.fields, limb.field + 1), x, y);
      if (!std::isfinite(score) || score <= kMinFieldScore) continue;
      sum += score;
      ++count;
    }
    if (static_cast<float>(count) <= kMinSampleShare * kSamples) return 0.0f;
    // Limbs longer than half of the picture's height are unlikely.
    const float penalty = std::min(0.0f, static_cast<float>(maps_.rows) / 2.0f / length - 1.0f);
    return std::max(0.0f, sum / static_cast<float>(count) + penalty);
  }

  /// Pairs of peaks, best first, each peak at most once.
  std::vector<Joint> best_joints(const Limb& limb) const {
    const std::vector<PosePeak>& from = peaks_[limb.from];
    const std::vector<PosePeak>& to = peaks_[limb.to];
    std::vector<Joint> candidates;
    for (size_t a = 0; a < from.size(); ++a) {
      for (size_t b = 0; b < to.size(); ++b) {
        const float score = limb_score(limb, from[a], to[b]);
        if (score > 0.0f) candidates.push_back({a, b, score});
      }
    }
    std::stable_sort(candidates.begin(), candidates.end(),
                     [](const Joint& a, const Joint& b) { return a.score > b.score; });
    std::vector<Joint> best;
    std::vector<bool> from_used(from.size(), false);
    std::vector<bool> to_used(to.size(), false);
    for (const Joint& joint : candidates) {
      if (from_used[joint.from] || to_used[joint.to]) continue;
      from_used[joint.from] = to_used[joint.to] = true;
      best.push_back(joint);
    }
    return best;
  }

  /// Limbs form a tree: the body that has the near end gets the far one, else a body begins.
  void add_joint(const Limb& limb, const Joint& joint) {
    const auto near = static_cast<int>(joint.from);
    const float far_score = peaks_[limb.to][joint.to].score + joint.score;
    const auto owner = std::find_if(bodies_.begin(), bodies_.end(), [&](const Body& body) {
      return body.peaks[limb.from] == near;
    });
    Body* body = owner == bodies_.end() ? nullptr : &*owner;
    if (body == nullptr) {
      body = &bodies_.emplace_back();
      body->peaks.fill(-1);
      body->peaks[limb.from] = near;
      body->count = 1;
      body->score = peaks_[limb.from][joint.from].score;
    }
    body->peaks[limb.to] = static_cast<int>(joint.to);
    body->score += far_score;
    ++body->count;
  }

  const PoseMaps& maps_;
  std::array<std::vector<PosePeak>, kPosePoints> peaks_;
  std::vector<Body> bodies_;
};

/// Where a parabola through three values has its maximum, from the middle one.
float parabola_offset(float before, float middle, float after) {
  const float curvature = before - 2.0f * middle + after;
  if (!std::isfinite(curvature) || !(curvature < 0.0f)) return 0.0f;
  return std::clamp(0.5f * (before - after) / curvature, -0.5f, 0.5f);
}

}  // namespace

std::vector<PosePeak> find_peaks(std::span<const float> map, int rows, int columns,
                                 float threshold) {
  const auto at = [&](int y, int x) {
    const bool inside = y >= 0 && y < rows && x >= 0 && x < columns;
    return inside
               ? map[static_cast<size_t>(y) * static_cast<size_t>(columns) + static_cast<size_t>(x)]
               : 0.0f;
  };
  std::vector<PosePeak> peaks;
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < columns; ++x) {
      const float value = at(y, x);
      if (!std::isfinite(value) || !(value > threshold)) continue;
      // Of equal neighbours the first one is the peak.
      if (!(value > at(y, x - 1) && value > at(y - 1, x) && value >= at(y, x + 1) &&
            value >= at(y + 1, x)))
        continue;
      peaks.push_back({static_cast<float>(x) + parabola_offset(at(y, x - 1), value, at(y, x + 1)),
                       static_cast<float>(y) + parabola_offset(at(y - 1, x), value, at(y + 1, x)),
                       value});
    }
  }
  if (peaks.size() <= kMaxPeaks) return peaks;
  std::vector<float> scores;
  for (const PosePeak& peak : peaks) scores.push_back(peak.score);
  std::nth_element(scores.begin(), scores.begin() + kMaxPeaks - 1, scores.end(), std::greater<>());
  const float weakest = scores[kMaxPeaks - 1];
  std::erase_if(peaks, [&](const PosePeak& peak) { return peak.score < weakest; });
  peaks.resize(kMaxPeaks);
  return peaks;
}

std::vector<Pose> group_poses(const PoseMaps& maps, float peak_threshold) {
  return Grouping(maps, peak_threshold).run();
}

}  // namespace het
