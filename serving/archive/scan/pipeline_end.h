#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <functional>
#include <string>

#include "inference/base/status.h"

namespace het::archive {

/// A sink pad in the pipeline, playing, for a stream that is only read; of a fakesink that waits
/// neither for the clock nor for the first frames of others. nullptr without fakesink. The caller
/// unrefs it.
GstPad* add_end(GstElement* pipeline);

/// Waits for the end of a pipeline that reads `what`, then stops it: its threads are gone. `moved`
/// tells how far it is. Fails with ParseError (GStreamer's words), TimedOut when it stands still
/// for a minute, Internal when it has stopped reading without a word, Cancelled when `is_stopped`
/// says so.
Status wait_for_end(GstElement* pipeline, const std::string& what,
                    const std::function<uint64_t()>& moved,
                    const std::function<bool()>& is_stopped);

}  // namespace het::archive
