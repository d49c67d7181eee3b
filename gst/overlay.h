#pragma once

#include <vector>

#include "canvas.h"
#include "metadata.h"

namespace het::gst {

/// Draws objects: colours of segmentations, box, label with confidence, attributes, landmarks,
/// bodies. Line widths and letters follow the size of the picture; each label id has its own
/// colour.
void draw_objects(Canvas& canvas, const std::vector<FrameObject>& objects);

/// The colour of a label id: neighbouring ids differ clearly.
Rgb label_color(int label_id);

}  // namespace het::gst
