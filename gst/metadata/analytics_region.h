#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytics_segmentation.h"
#include "inference/tensors/image.h"

namespace het::gst {

/// A class that a region is said to be of.
struct RegionClass {
  std::string label;
  float confidence = 0.0f;
};

/// A region in a frame's GstAnalyticsRelationMeta, for RegionMeta: an object detection (ODMtd) with
/// a record of ours beside it that holds the params, or a record alone. Builds with GStreamer 1.26
/// or newer know it (kHasAnalytics); only next() may be called where has_analytics() is false.
///
/// Relations: the object RELATE_TO its classes, its segmentations, its track and its record (as
/// upstream's overlay and trackers expect it), and IS_PART_OF the object that it was found in.
struct AnalyticsRegion {
  static constexpr guint kNone = G_MAXUINT;
  GstAnalyticsRelationMeta* relations = nullptr;
  guint object = kNone;  ///< id of the ODMtd
  guint record = kNone;  ///< id of our record

  static AnalyticsRegion add(GstBuffer* buffer, const Rect& rect, const char* type,
                             float confidence);
  static AnalyticsRegion add_whole_picture(GstBuffer* buffer, int width, int height);
  /// False at the end, and without the library.
  bool next(GstBuffer* buffer, gpointer* state);

  Rect rect() const;
  const char* type() const;
  float confidence() const;
  /// Of the ODMtd.
  std::optional<int> id() const;
  std::optional<int> parent_id() const;
  void set_parent(const AnalyticsRegion& parent) const;
  /// "classification" becomes a ClsMtd, too, and the first "object_id" a TrackingMtd.
  void add_params(GstStructure* params);
  void add_segmentation(const RegionSegmentation& segmentation) const;
  const GList* params() const;
  std::vector<RegionClass> classes() const;
};

#ifdef HET_GST_ANALYTICS
inline constexpr bool kHasAnalytics = true;
/// Whether GStreamer's library for it is installed, too.
bool has_analytics();
#else
inline constexpr bool kHasAnalytics = false;
inline bool has_analytics() {
  return false;
}
#endif

}  // namespace het::gst
