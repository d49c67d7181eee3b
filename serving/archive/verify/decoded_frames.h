#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::archive {

/// Frames that come out of a decoder.
struct DecodedFrames {
  std::vector<uint64_t> times_ns;  ///< stream time, as they came
  uint64_t untimed = 0;            ///< without a time
};

/// Decodes the first video stream of `uri` to its end with what decodebin chooses, nothing else.
/// Fails with ParseError (GStreamer's words), TimedOut when nothing comes for a minute, Cancelled.
Result<DecodedFrames> decode_frames(const std::string& uri,
                                    const std::function<bool()>& is_stopped);

}  // namespace het::archive
