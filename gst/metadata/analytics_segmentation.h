#pragma once

#include <gst/gst.h>

#include <optional>
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
  /// What is not 0 belongs to one object. Else the ids are classes.
  bool of_one_object = false;
};

/// The part inside a picture of this size, with whole places; none where there is nothing.
std::optional<RegionSegmentation> clipped(const RegionSegmentation& segmentation, int width,
                                          int height);

/// Ids of Mtds.
struct SegmentationIds {
  guint segmentation = 0;
  std::optional<guint> names;  ///< the ClsMtd
};

/// Adds a SegmentationMtd (from GStreamer 1.26). `rect` lies inside the picture, which upstream's
/// overlay takes for granted. The mask's buffer keeps the tensor; that of an object has 0 and a
/// number from 1 to 10 that changes from object to object, as the overlay colours them by it. Where
/// there are labels, region indices are region ids, and classes of a ClsMtd are in their order.
/// None for ids that it cannot hold.
std::optional<SegmentationIds> add_segmentation(GstAnalyticsRelationMeta* relations,
                                                const RegionSegmentation& segmentation);

/// Reads the SegmentationMtd of this id. One with at most one region beside 0 is, where it belongs
/// to an object, its mask. None where the mask lacks a size or a format, or is shorter than they
/// say.
std::optional<RegionSegmentation> read_segmentation(GstAnalyticsRelationMeta* relations, guint id,
                                                    bool of_object);

}  // namespace het::gst
