#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "serving/density/trial_report.h"

namespace het::density {

/// When the frames of one stream are due and when they arrive. Frame k is due at base + k / fps,
/// whether or not the stream is ready for it, and waits for that time. Arrivals are matched by
/// their presentation time, since decoders reorder; where none matches, in order. Thread-safe.
class FrameTimes {
 public:
  explicit FrameTimes(double fps) : fps_(fps) {}

  /// A frame that is ready: waits until it is due. False after stop().
  bool wait_for_turn(std::optional<uint64_t> presentation_time);
  /// A frame at the stream's sink, in seconds of the monotonic clock.
  void arrive(std::optional<uint64_t> presentation_time, double now_s);

  /// From now on frames are due from `base_s` on, and those due from `begin_s` until before `end_s`
  /// are measured. Before, the first frame that is ready is due at once.
  void measure(double base_s, double begin_s, double end_s);
  /// Whoever waits goes on.
  void stop();

  /// How long the next frame has been due; below 0: it is not yet.
  double lag_s(double now_s) const;
  /// True where every frame that is due in the window has arrived.
  bool has_all() const;
  /// Of the window, which ends at `end_s` at the latest.
  StreamTimes result(double end_s) const;

 private:
  struct Frame {
    std::optional<uint64_t> presentation_time;
    double due_s = 0;
  };
  double due_s() const { return base_s_ + static_cast<double>(index_) / fps_; }
  uint64_t due_until(double end_s) const;
  std::deque<Frame>::iterator find(std::optional<uint64_t> presentation_time);

  const double fps_;
  mutable std::mutex mutex_;  ///< protects all below; taken alone
  std::condition_variable turn_;
  bool has_begun_ = false;
  bool is_stopped_ = false;
  bool are_matched_ = false;  ///< presentation times arrive as they were let pass
  double base_s_ = 0;
  uint64_t index_ = 0;  ///< of the next frame
  double begin_s_ = 0;
  double end_s_ = 0;
  std::deque<Frame> under_way_;
  StreamTimes times_;
};

}  // namespace het::density
