#pragma once

#include <gst/video/video.h>

namespace het::gst {

/// Completes the answer to an ALLOCATION query of an element that holds up to `frames_held` frames:
/// GstVideoMeta, and pools deep enough. `answered` says whether downstream has answered already.
/// Returns true when downstream cannot read GstVideoMeta, so that with_plain_rows() is needed.
bool complete_allocation(GstQuery* query, bool answered, guint frames_held);

/// The buffer, or a copy of it (and the buffer is unreffed) when its GstVideoMeta has other offsets
/// or strides than the caps alone say.
GstBuffer* with_plain_rows(GstBuffer* buffer, const GstVideoInfo& info);

}  // namespace het::gst
