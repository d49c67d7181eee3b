#pragma once

#include <cstdint>
#include <optional>

namespace het::motion {

struct GateSettings {
  int hold_frames = 5;                  ///< analysed after the last one in which something moved
  uint64_t max_age_ns = 1'000'000'000;  ///< results are never carried for longer
};

/// Which frames of a stream have to be analysed: those in which something moves, those just after
/// them, and one as soon as the last results are too old. Of one thread.
class MotionGate {
 public:
  /// The next frame; `time_ns` grows from frame to frame.
  bool opens(bool moves, uint64_t time_ns, const GateSettings& settings) {
    if (moves) {
      held_ = settings.hold_frames;
    } else if (held_ > 0) {
      --held_;
    } else if (analysed_ && time_ns >= *analysed_ && time_ns - *analysed_ < settings.max_age_ns) {
      return false;
    }
    analysed_ = time_ns;
    return true;
  }
  /// What was found before does not count.
  void reset() {
    held_ = 0;
    analysed_.reset();
  }

 private:
  int held_ = 0;
  std::optional<uint64_t> analysed_;  ///< time of the last frame that was
};

}  // namespace het::motion
