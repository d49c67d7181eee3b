#pragma once

#include <gst/gst.h>

namespace het::archive {

/// Whether all threads by which a pipeline reads have paused: at the end of a video, and after an
/// error. decodebin and parsebin lose the error of a demuxer that comes while they start it: then
/// there is neither an error nor an end.
bool has_stopped_reading(GstElement* pipeline);

}  // namespace het::archive
