#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>

namespace het::serving {

/// Counts what reaches the sinks of a pipeline, also of those that appear in it later. At the first
/// buffer of all it posts kFirstFrame on the pipeline's bus. Thread-safe; pads of the pipeline may
/// outlive it.
class SinkCounter {
 public:
  /// The name of the application's message.
  static constexpr char kFirstFrame[] = "hetero-launch-first-frame";

  /// `pipeline` is borrowed and outlives this.
  explicit SinkCounter(GstElement* pipeline);
  /// Looks at one element; those that are no sinks are left alone.
  void watch(GstElement* element);
  /// Buffers that reached the sink that got most of them, sound left out where there is a picture:
  /// a tee does not make more frames of one.
  uint64_t frames() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace het::serving
