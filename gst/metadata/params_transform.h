#pragma once

#include <gst/gst.h>

#include "picture_change.h"

namespace het::gst {

/// Fits a region's params (GstStructure*, owned by the list) to a picture that was cut, mirrored or
/// put between borders. Masks and segmentations are dropped where the picture is mirrored or
/// turned: their values are not moved.
void transform_params(GList*& params, const PictureChange& change);

/// Fits params that are relative to a rectangle (keypoints) to a part of it.
void move_params(GList* params, const Rect& from, const Rect& to);

}  // namespace het::gst
