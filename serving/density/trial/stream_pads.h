#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "serving/density/trial/frame_times.h"

namespace het::density {

/// What a stream's pads tell its trial, from streaming threads.
class StreamPads {
 public:
  StreamPads(FrameTimes& times, std::string sink);

  /// Looks at each element of a pipeline before it starts: adds the probes, changes what would keep
  /// frames from their times (sync, is-live, num-buffers) and tells of it by `note`.
  void prepare(GstElement* element, const std::function<void(std::string)>& note);
  /// Nothing holds frames or begins a video anew any more.
  void stop();

  bool has_arrived() const;
  /// What keeps the stream from being measured; empty: nothing.
  std::string problem() const;
  /// "decoder0 sink", "source src"; empty until a frame came.
  std::string pacing_place() const;
  /// How often the video has begun anew.
  size_t loops() const;

  struct State;

 private:
  std::shared_ptr<State> state_;  ///< with the pads, which may outlive this
};

}  // namespace het::density
