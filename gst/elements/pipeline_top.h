#pragma once

#include <gst/gst.h>

namespace het::gst {

/// The outermost bin that an element is in, or the element itself; the caller unrefs it.
GstObject* pipeline_top(GstElement* element);

}  // namespace het::gst
