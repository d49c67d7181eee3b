#pragma once

#include <gst/gst.h>

#include <optional>
#include <string>
#include <vector>

#include "analytics_segmentation.h"
#include "inference/tensors/image.h"
#include "inference/vision_model.h"

namespace het::gst {

/// A class that a region is said to be of.
struct RegionClass {
  std::string label;
  float confidence = 0.0f;  ///< below 0: not told
};

/// A box before it is turned about its centre, in pixels of the picture.
struct TurnedBox {
  Rect rect;
  float rotation = 0.0f;  ///< radians, clockwise
};

/// A region in a frame's GstAnalyticsRelationMeta, for RegionMeta: an object detection (ODMtd) with
/// a record of ours beside it that holds the params, a record alone, or what other elements say of
/// the whole picture. Builds with GStreamer 1.26 or newer know it (kHasAnalytics); only next() may
/// be called where has_analytics() is false.
///
/// Relations: the object RELATE_TO its classes, its segmentations, its track and its record (as
/// upstream's overlay and trackers expect it), and IS_PART_OF the object that it was found in. A
/// record RELATE_TO the classes and segmentations that repeat its params.
struct AnalyticsRegion {
  static constexpr guint kNone = G_MAXUINT;
  GstAnalyticsRelationMeta* relations = nullptr;
  guint object = kNone;  ///< id of the ODMtd
  guint record = kNone;  ///< id of our record
  /// Stands for the classes and segmentations of other elements that belong to no object.
  bool is_of_others = false;

  struct Cursor {
    gpointer state = nullptr;
    bool past_others = false;
  };

  /// Where the box is turned, `rect` is the upright one around it.
  static AnalyticsRegion add(GstBuffer* buffer, const Rect& rect, const char* type,
                             float confidence, const TurnedBox* turned);
  static AnalyticsRegion add_whole_picture(GstBuffer* buffer, int width, int height);
  /// False at the end, and without the library.
  bool next(GstBuffer* buffer, Cursor& cursor);

  /// Empty for what others say of the whole picture: its size is not known here.
  Rect rect() const;
  /// Of an ODMtd that has one.
  std::optional<TurnedBox> turned_box() const;
  const char* type() const;
  float confidence() const;
  /// Of the ODMtd.
  std::optional<int> id() const;
  std::optional<int> parent_id() const;
  void set_parent(const AnalyticsRegion& parent) const;
  /// With its record and what is related to it and to nothing else. GStreamer cannot take one Mtd
  /// away, so the buffer gets the others anew, in their order.
  void remove(GstBuffer* buffer) const;
  /// "classification" becomes a ClsMtd, too, and "object_id" the TrackingMtd.
  void add_params(GstStructure* params);
  /// The part of it that lies inside the picture.
  void add_segmentation(const RegionSegmentation& segmentation, int picture_width,
                        int picture_height);
  /// Of an object; see add_tensor_mtds().
  void add_tensors(const std::vector<ExchangedTensor>& tensors) const;
  const GList* params() const;

  /// What other elements attached: of each ClsMtd the best class ...
  std::vector<RegionClass> classes() const;
  /// ... segmentations whose masks can be read ...
  std::vector<RegionSegmentation> segmentations() const;
  /// ... and the TrackingMtd's id, also ours; none where it is above the largest int.
  std::optional<int> track_id() const;
  /// Leaves this as the object's only TrackingMtd.
  void set_track_id(int id) const;

 private:
  guint find_record() const;
  guint own_record();
  bool is_ours(guint mtd) const;
  /// Calls `take(GstAnalyticsMtd)` for each of a GstAnalyticsMtdType that others attached.
  template <class Take>
  void each_of_others(guintptr type, Take take) const;
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
