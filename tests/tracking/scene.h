#pragma once

#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "inference/tracking/tracker.h"

namespace het::tracking {

/// One object of a made-up scene.
struct Actor {
  std::function<Box(int frame)> box;
  int first = 0;    ///< frame in which it appears
  int last = 1000;  ///< and the last one with it
  std::string label = "person";
  std::vector<float> feature;
  /// Frames in which nothing detects it.
  std::function<bool(int frame)> hidden = [](int) { return false; };

  bool is_there(int frame) const { return frame >= first && frame <= last; }
};

/// A box of this size whose corner starts at x, y and moves by vx, vy a frame.
std::function<Box(int)> moving(float x, float y, float vx, float vy, float width = 40.0f,
                               float height = 80.0f);

/// A box around `centre` after small random changes.
struct Jitter {
  float pixels = 0.0f;
  std::minstd_rand random{7};
  Box operator()(Box box);
};

/// What a tracker made of a scene.
struct Story {
  /// Ids that each actor had, in order, each once per stretch: more than one is a switch.
  std::map<size_t, std::vector<int>> ids;
  std::map<int, std::set<size_t>> actors;  ///< by id: more than one is a mix-up
  std::vector<TrackedFrame> frames;

  int switches() const;
  int mix_ups() const;
};

/// Plays frames 0 to count - 1: what is there and not hidden is detected, in random order.
Story play(
    Tracker& tracker, const std::vector<Actor>& actors, int count, float jitter_pixels = 0.0f,
    const std::function<bool(int frame)>& detects = [](int) { return true; });

}  // namespace het::tracking
