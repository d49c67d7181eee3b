#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace het::archive {

/// What a run has to do and how far it is, for people.
struct RunProgress {
  size_t shards = 0;
  size_t done = 0;  ///< before, or by anybody
  size_t given_up = 0;
  uint64_t frames = 0;               ///< of all shards of this run
  uint64_t frames_left = 0;          ///< of those that nobody has answered
  uint64_t worked = 0;               ///< frames that this run has done
  double seconds = 0;                ///< since it began
  double frames_per_s_of_video = 0;  ///< how fast the videos themselves are

  /// "12 of 200 shards done, 123.4 frames/s (4.1 x real time), 2 min 05 s left, 1 given up".
  std::string text() const;
};

}  // namespace het::archive
