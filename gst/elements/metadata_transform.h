#pragma once

#include <gst/base/gstbasetransform.h>

namespace het::gst {

/// Any memory: such elements do not touch pixels.
#define HET_GST_ANY_VIDEO "video/x-raw(ANY)"

/// What elements have in common that only change a frame's metadata, in place: a buffer that others
/// hold too is copied without its memory, and allocations are downstream's matter.
void make_metadata_transform(GstBaseTransformClass* klass);

}  // namespace het::gst
