#pragma once

#include <gst/gst.h>

#include <functional>
#include <vector>

namespace het::gst {

/// Caps of batches of frames from several streams (from GStreamer 1.28 on): analyticscombiner makes
/// them, analyticssplitter takes them apart. The field `streams` is an array with the caps of each
/// stream. For the end of the caps of a pad's template:
#if defined(HET_GST_ANALYTICS) && GST_CHECK_VERSION(1, 28, 0)
#define HET_GST_OR_BATCH_CAPS "; multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)"
#else
#define HET_GST_OR_BATCH_CAPS ""
#endif

bool is_batch_caps(const GstCaps* caps);

/// The caps of the streams, in their order, which belong to `caps`; null for a stream that says
/// nothing. Empty where the field is missing.
std::vector<const GstCaps*> stream_caps(const GstCaps* caps);

/// The caps of a stream of which the combiner knows none yet.
bool is_unknown_stream(const GstCaps* caps);

/// Calls `change` for each structure of writable caps that describes frames: those of the caps
/// themselves, of a batch those of its streams of raw video.
void change_frame_structures(GstCaps* caps, const std::function<void(GstStructure*)>& change);

/// The same, with only those frames of each stream of a batch that `frames` has. Takes `caps` over.
GstCaps* with_streams_among(GstCaps* caps, GstCaps* frames);

}  // namespace het::gst
