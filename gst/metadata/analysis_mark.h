#pragma once

#include <gst/gst.h>

namespace het::gst {

/// Says of a writable buffer that a detector let it pass without looking for objects
/// (inference-interval, a late frame). What follows may tell it from a frame in which there were
/// none.
void mark_not_analysed(GstBuffer* buffer);
bool is_marked_not_analysed(GstBuffer* buffer);

/// Says of a writable buffer that nothing moves in it (heteromotiondetect's gate): inference
/// elements behind do not analyse it, but give it their last results.
void mark_still(GstBuffer* buffer);
bool is_marked_still(GstBuffer* buffer);

}  // namespace het::gst
