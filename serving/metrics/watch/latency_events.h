#pragma once

#include <gst/gst.h>

#include "serving/metrics/watch/registry.h"

namespace het::metrics {

/// How long buffers take, by events that are pushed before them, since a buffer of one element need
/// not be that of the next. Elements that hold such events back (muxers) end the way. Thread-safe.
namespace latency_events {

/// Before the first pad is watched.
void begin(bool with_pipeline, bool with_element);
/// A buffer is about to leave a pad. Pushes events.
void before_push(GstPad* pad, WatchedPad& watched);
/// A buffer has reached a sink.
void at_sink(WatchedPad& watched);

}  // namespace latency_events
}  // namespace het::metrics
