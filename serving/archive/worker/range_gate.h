#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>

namespace het::archive {

/// Lets exactly the frames of a range out of the video decoders of a pipeline: seeks when the first
/// frame is there, lets nothing out until then, drops what is decoded around the range, and ends
/// the stream behind it. What lies behind a decoder sees a stream that begins and ends with the
/// range. Thread-safe; pads of the pipeline may outlive it.
class RangeGate {
 public:
  /// Stream times; `from_ns` of 0: from the beginning, without a seek.
  RangeGate(uint64_t from_ns, std::optional<uint64_t> stop_ns);
  /// Looks at one element; those that are no video decoders are left alone. A seek that fails is
  /// an error of the decoder.
  void watch(GstElement* element);
  /// Whether frames could pass it by, because no decoder was there.
  bool has_decoder() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace het::archive
