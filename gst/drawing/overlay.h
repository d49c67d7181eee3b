#pragma once

#include <string>
#include <vector>

#include "canvas.h"
#include "gst/metadata/metadata.h"
#include "overlay_style.h"
#include "text_renderer.h"

namespace het::gst {

/// Draws objects: colours of segmentations, box, label with confidence, attributes, landmarks,
/// bodies. Line widths and letters follow the size of the picture; each label id has its own
/// colour. `texts` may be null where `style` shows no labels.
void draw_objects(Canvas& canvas, TextRenderer* texts, const std::vector<FrameObject>& objects,
                  const OverlayStyle& style = {});

/// Writes a line in a filled box above a place, or below it where the picture ends.
void draw_label(Canvas& canvas, TextRenderer& texts, const std::string& text, const Rect& place,
                const Rgb& color, const OverlayStyle& style);

/// Writes a text of the whole frame where `style` has its place.
void draw_frame_text(Canvas& canvas, TextRenderer& texts, const std::string& text,
                     const OverlayStyle& style);

/// The colour of a label id: neighbouring ids differ clearly.
Rgb label_color(int label_id);

}  // namespace het::gst
