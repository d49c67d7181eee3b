#pragma once

#include "canvas.h"
#include "gst/metadata/zone_record.h"
#include "overlay_style.h"
#include "text_renderer.h"

namespace het::gst {

/// Draws the zones and tripwires of a frame that are to be drawn: outlines, at a line an arrow in
/// the forward direction, and what was counted. `texts` may be null where `style` shows no labels.
void draw_zones(Canvas& canvas, TextRenderer* texts, const ZoneRecord& record,
                const OverlayStyle& style);

}  // namespace het::gst
