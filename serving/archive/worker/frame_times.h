#pragma once

#include <gst/gst.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace het::archive {

/// Stream times of the frames that reach the sinks of a pipeline. Thread-safe; pads of the pipeline
/// may outlive it.
class FrameTimes {
 public:
  using Clock = std::chrono::steady_clock;

  FrameTimes();
  /// Looks at one element; those that are no sinks are left alone.
  void watch(GstElement* element);

  struct Frames {
    std::vector<uint64_t> times_ns;  ///< as they came
    uint64_t untimed = 0;            ///< frames without a stream time
    std::optional<Clock::time_point> first;
    std::optional<Clock::time_point> last;
  };
  /// Of the sink that got most frames, sound left out where there is a picture: a tee does not make
  /// more frames of one.
  Frames frames() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace het::archive
