#pragma once

#include <gst/gst.h>

/// The tracer "heterotrace": GST_TRACERS="heterotrace(file=trace.json)" before any program with
/// inference elements writes where the time of each frame went (frame_trace.h), when GStreamer is
/// deinitialised or the process exits. Parameters: file (default hetero-trace.json), limit (spans
/// kept, default 1000000).
gboolean gst_hetero_tracer_register(GstPlugin* plugin);
