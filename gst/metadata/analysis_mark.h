#pragma once

#include <gst/gst.h>

namespace het::gst {

/// Says of a writable buffer that a detector let it pass without looking for objects
/// (inference-interval, a late frame). What follows may tell it from a frame in which there were
/// none.
void mark_not_analysed(GstBuffer* buffer);
bool is_marked_not_analysed(GstBuffer* buffer);

}  // namespace het::gst
