#pragma once

#include <gst/gst.h>

/// The tracer "heterometrics": GST_TRACERS="heterometrics(port=9464)" before any program with
/// GStreamer answers at http://127.0.0.1:9464/metrics, /health/live and /health/ready until
/// GStreamer is deinitialised or the process ends. docs/metrics.md.
gboolean gst_hetero_metrics_tracer_register(GstPlugin* plugin);
