#pragma once

#include <vector>

#include "inference/motion/motion_detector.h"

namespace het::motion_internal {

/// Regions from frame to frame: which have lasted, where they are between two frames.
class RegionTracks {
 public:
  /// The regions of the next frame; returns those to tell.
  std::vector<Rect> update(const std::vector<Rect>& seen, const motion::MotionSettings& settings);
  void reset() { tracks_.clear(); }

 private:
  struct Track {
    Rect last;  ///< as it was seen
    double left, top, right, bottom;
    int frames = 1;  ///< in which it was seen
    int missed = 0;  ///< in a row
    bool is_seen = true;
  };
  struct Pair {
    double closeness;
    size_t track;
    size_t region;
  };
  static Track begin(const Rect& region);
  static void move(Track& track, const Rect& region, double weight);
  /// Takes pairs, the closest first, whose both sides are free.
  void match(std::vector<Pair> pairs, const std::vector<Rect>& seen, std::vector<bool>& taken,
             double weight);

  std::vector<Track> tracks_;
};

}  // namespace het::motion_internal
