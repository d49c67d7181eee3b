#pragma once

#include <functional>

#include "inference/base/status.h"
#include "serving/archive/scan/video_scan.h"

namespace het::archive {

/// Demuxes and parses a video to its end and puts what its first video stream has into the scan,
/// not sorted; what was found before a failure, too. Fails with ParseError (GStreamer's words, no
/// video in it), TimedOut when nothing comes for a minute, Cancelled.
Status parse_video(const VideoPlace& video, const std::function<bool()>& is_stopped,
                   VideoScan& scan);

}  // namespace het::archive
