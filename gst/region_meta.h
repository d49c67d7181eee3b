#pragma once

#include <gst/video/video.h>

#include <optional>
#include <string_view>

#include "inference/image.h"

namespace het::gst {

/// One region of a frame as the frame's metadata holds it: a rectangle, a type and any number of
/// named structures ("params"). A handle: valid as long as the buffer keeps its metadata. The one
/// place that knows which meta that is: GstVideoRegionOfInterestMeta.
class RegionMeta {
 public:
  /// Adds a region to a writable buffer; `rect` lies inside the picture. What is no UTF-8 in the
  /// type is replaced.
  static RegionMeta add(GstBuffer* buffer, const Rect& rect, std::string_view type);
  /// The region behind `*state` (null at first), in the order in which they were attached; empty
  /// at the end.
  static std::optional<RegionMeta> next(GstBuffer* buffer, gpointer* state);
  /// The n-th region of a buffer.
  static std::optional<RegionMeta> at(GstBuffer* buffer, int index);

  /// As the meta says it, not clipped.
  Rect rect() const;
  /// Empty where there is none.
  std::string_view type() const;
  int id() const { return meta_->id; }
  /// The id of the region that this one was found in.
  void set_parent_id(int id) { meta_->parent_id = id; }

  /// Takes the structure over.
  void add_params(GstStructure* params);
  /// The structures (const GstStructure*), in the order in which they were added.
  const GList* params() const { return meta_->params; }

 private:
  explicit RegionMeta(GstVideoRegionOfInterestMeta* meta) : meta_(meta) {}
  GstVideoRegionOfInterestMeta* meta_;
};

}  // namespace het::gst
