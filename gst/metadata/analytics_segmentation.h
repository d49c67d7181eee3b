#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

#include "inference/tensors/image.h"
#include "inference/tensors/tensor.h"

using GstAnalyticsRelationMeta = struct _GstAnalyticsRelationMeta;

namespace het::gst {

/// Which places of a part of the picture belong to which region.
struct RegionSegmentation {
  /// Dense host memory [..., rows, columns] of uint8 or uint16: the region of each place.
  Tensor ids;
  Rect rect;                        ///< what the places are stretched over, in pixels
  std::vector<std::string> labels;  ///< by region id; may be empty
  /// The ids are 0 and 1: what belongs to one object. Else they are classes.
  bool of_one_object = false;
};

/// Adds a SegmentationMtd (from GStreamer 1.26); the mask's buffer keeps the tensor. Where there
/// are labels the Mtd RELATE_TO a ClsMtd whose classes are in the order of its region indices.
/// Returns the Mtd's id, G_MAXUINT for ids that it cannot hold.
guint add_segmentation(GstAnalyticsRelationMeta* relations, const RegionSegmentation& segmentation);

}  // namespace het::gst
