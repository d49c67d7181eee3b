#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <functional>
#include <string>

#include "inference/base/status.h"

namespace het::archive {

/// Waits for the end of a pipeline that reads `what`, then stops it: its threads are gone. `moved`
/// tells how far it is. Fails with ParseError (GStreamer's words), TimedOut when it stands still
/// for a minute, Internal when it has stopped reading without a word, Cancelled when `is_stopped`
/// says so.
Status wait_for_end(GstElement* pipeline, const std::string& what,
                    const std::function<uint64_t()>& moved,
                    const std::function<bool()>& is_stopped);

}  // namespace het::archive
