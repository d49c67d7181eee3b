#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/scan/video_words.h"

namespace het::archive {

/// What demuxing and parsing, without decoding, tell of a video. Times are stream time, ascending.
struct VideoScan {
  std::string content;  ///< "sha256:" and digits; empty where it could not be read
  uint64_t bytes = 0;
  std::string codec;  ///< "video/x-h264"; empty where there is no video
  uint64_t frames = 0;
  std::vector<uint64_t> timestamps;  ///< of frames that have one; a decoder skips none of them
  std::vector<uint64_t> key_frames;  ///< from which decoding can begin: not those of open groups
  uint64_t duration_ns = 0;
  std::optional<std::string> error;  ///< why it could not be parsed, or not to its end
  bool operator==(const VideoScan&) const = default;

  /// Every frame has a time of its own, so that ranges can be told by them.
  bool has_exact_times() const;
};

/// Reads the whole video. What is wrong with it is told in `error` of the scan. `is_stopped` is
/// asked now and then; Cancelled when it says so. Several may run at once.
Result<VideoScan> scan_video(const VideoPlace& video, const std::function<bool()>& is_stopped);
/// Its content alone, of a video that is not to be parsed for this reason.
Result<VideoScan> scan_content(const VideoPlace& video, const std::string& reason,
                               const std::function<bool()>& is_stopped);

}  // namespace het::archive
