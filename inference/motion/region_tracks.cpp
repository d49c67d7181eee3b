#include "inference/motion/region_tracks.h"

#include <algorithm>
#include <cmath>

namespace het::motion_internal {
namespace {

double intersection_over_union(const Rect& a, const Rect& b) {
  const int width = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x);
  const int height = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0.0;
  const double both = double(width) * height;
  return both / (double(a.width) * a.height + double(b.width) * b.height - both);
}

/// Distance of the centres, in sides of the larger one.
double distance_in_sides(const Rect& a, const Rect& b) {
  const double dx = (a.x + a.width / 2.0) - (b.x + b.width / 2.0);
  const double dy = (a.y + a.height / 2.0) - (b.y + b.height / 2.0);
  return std::max(std::abs(dx) / std::max(a.width, b.width),
                  std::abs(dy) / std::max(a.height, b.height));
}

/// What moves by more than this from frame to frame is another one.
constexpr double kFarthest = 2.0;

}  // namespace

RegionTracks::Track RegionTracks::begin(const Rect& region) {
  return {region, double(region.x), double(region.y), double(region.x + region.width),
          double(region.y + region.height)};
}

void RegionTracks::move(Track& track, const Rect& region, double weight) {
  const Track to = begin(region);
  track.left += (to.left - track.left) * weight;
  track.top += (to.top - track.top) * weight;
  track.right += (to.right - track.right) * weight;
  track.bottom += (to.bottom - track.bottom) * weight;
  track.last = region;
  ++track.frames;
  track.missed = 0;
  track.is_seen = true;
}

void RegionTracks::match(std::vector<Pair> pairs, const std::vector<Rect>& seen,
                         std::vector<bool>& taken, double weight) {
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.closeness > b.closeness; });
  for (const Pair& pair : pairs) {
    Track& track = tracks_[pair.track];
    if (track.is_seen || taken[pair.region]) continue;
    taken[pair.region] = true;
    move(track, seen[pair.region], weight);
  }
}

std::vector<Rect> RegionTracks::update(const std::vector<Rect>& seen,
                                       const motion::MotionSettings& settings) {
  for (Track& track : tracks_) track.is_seen = false;
  std::vector<bool> taken(seen.size());
  std::vector<Pair> overlapping;
  std::vector<Pair> near;
  for (size_t t = 0; t < tracks_.size(); ++t) {
    for (size_t r = 0; r < seen.size(); ++r) {
      const double overlap = intersection_over_union(tracks_[t].last, seen[r]);
      const double distance = distance_in_sides(tracks_[t].last, seen[r]);
      if (overlap >= settings.iou_threshold && overlap > 0.0)
        overlapping.push_back({overlap, t, r});
      if (distance <= kFarthest) near.push_back({-distance, t, r});
    }
  }
  match(std::move(overlapping), seen, taken, settings.smooth_alpha);
  // What is fast does not overlap: its place is taken as it is.
  match(std::move(near), seen, taken, 1.0);
  for (Track& track : tracks_) {
    if (!track.is_seen) ++track.missed;
  }
  std::erase_if(tracks_, [&](const Track& track) { return track.missed > settings.max_miss; });
  for (size_t r = 0; r < seen.size(); ++r) {
    if (!taken[r]) tracks_.push_back(begin(seen[r]));
  }
  std::vector<Rect> told;
  for (const Track& track : tracks_) {
    if (track.frames < settings.min_persistence) continue;
    const auto left = static_cast<int>(std::lround(track.left));
    const auto top = static_cast<int>(std::lround(track.top));
    told.push_back({left, top, static_cast<int>(std::lround(track.right)) - left,
                    static_cast<int>(std::lround(track.bottom)) - top});
  }
  return told;
}

}  // namespace het::motion_internal
