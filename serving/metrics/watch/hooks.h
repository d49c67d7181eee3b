#pragma once

#include <gst/gst.h>

// Tracers are GStreamer's unstable API, unchanged since 1.8.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include <gst/gsttracer.h>

namespace het::metrics {

/// Registers what this tracer wants to hear of. From then on pipelines, elements and buffers are
/// counted in Registry::of_process(), without a lock for a buffer. `with_pipeline_latency`,
/// `with_element_latency`: buffers are preceded by events that tell when they were pushed.
void register_hooks(GstTracer* tracer, bool with_pipeline_latency, bool with_element_latency);

/// In the child of a fork: nothing is counted any more. Async-signal-safe.
void ignore_hooks();

}  // namespace het::metrics
