#pragma once

#include <gst/video/video.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analytics_region.h"
#include "inference/tensors/image.h"

namespace het::gst {

/// Which meta carries the regions of a frame. Elements of ours read both.
enum class MetadataForm {
  RegionOfInterest,  ///< GstVideoRegionOfInterestMeta, one a region
  Analytics,         ///< one GstAnalyticsRelationMeta a frame
};

/// Analytics where GStreamer has it (this build knows it and the library is installed), else
/// RegionOfInterest.
MetadataForm default_metadata_form();

/// One region of a frame as the frame's metadata holds it: a rectangle, a type and any number of
/// named structures ("params"). A handle: valid as long as the buffer keeps its metadata. Nobody
/// else touches the metas that it stands for.
class RegionMeta {
 public:
  /// Where next() is. Regions of interest come first, each kind in the order of attaching.
  struct Cursor {
    gpointer region_of_interest = nullptr;
    AnalyticsRegion::Cursor analytics = {};
    bool in_analytics = false;
  };

  /// Adds a region to a writable buffer; `rect` lies inside the picture. What is no UTF-8 in the
  /// type is replaced. Of a turned box, if it is one, `rect` is the upright one around it.
  static RegionMeta add(GstBuffer* buffer, MetadataForm form, const Rect& rect,
                        std::string_view type, float confidence, const TurnedBox* turned = nullptr);
  /// A region for what belongs to the whole picture; its type is empty.
  static RegionMeta add_whole_picture(GstBuffer* buffer, MetadataForm form, int width, int height);
  /// Empty at the end.
  static std::optional<RegionMeta> next(GstBuffer* buffer, Cursor& cursor);
  static std::vector<RegionMeta> all(GstBuffer* buffer);
  /// The n-th one of them.
  static std::optional<RegionMeta> at(GstBuffer* buffer, int index);

  /// The form of the last of them; a region added in this form comes behind all others.
  static std::optional<MetadataForm> form_of(GstBuffer* buffer);

  /// As the meta says it, not clipped. Empty for what others say of the whole picture.
  Rect rect() const;
  /// False for what others say of the whole picture without a region of its size.
  bool has_rect() const;
  /// A region for what belongs to the whole picture, ours or of others.
  bool is_whole_picture() const;
  /// The box of an object that is turned, where the form has one.
  std::optional<TurnedBox> turned_box() const;
  /// Empty where there is none.
  std::string_view type() const;
  /// How sure the detector was, where the meta itself tells.
  std::optional<float> confidence() const;
  /// Tells it from the frame's other regions of its form: the meta's id, or that of the ODMtd; none
  /// of a whole picture, and of regions that others attached without one.
  std::optional<int> id() const;
  /// The id of the region that this one was found in, as the meta says it: no region need have it.
  std::optional<int> parent_id() const;
  /// The region of the (writable) buffer that this one was found in; null: the whole picture. One
  /// without an id gets one.
  void set_parent(GstBuffer* buffer, const RegionMeta* parent);

  /// Takes the region off a (writable) buffer with all that belongs to it alone; what was found in
  /// it stays, in the whole picture. Other handles of the buffer's regions are no longer valid, and
  /// ids may be others.
  void remove(GstBuffer* buffer);

  /// Takes the structure over. Params "classification" (label, confidence) and "object_id" (id) are
  /// told in the form's own way too, where it has one.
  void add_params(GstStructure* params);
  /// What params tell in a form that only we read, once more as others find it; regions of interest
  /// have no place for it.
  void add_segmentation(const RegionSegmentation& segmentation, int picture_width,
                        int picture_height);
  /// Tensors of the object for decoders of others, where the form has them.
  void add_tensors(const std::vector<ExchangedTensor>& tensors);
  /// True when both are carried by the same kind of meta.
  bool has_form_of(const RegionMeta& other) const {
    return (region_of_interest_ == nullptr) == (other.region_of_interest_ == nullptr);
  }
  /// The structures (const GstStructure*), in the order in which they were added.
  const GList* params() const;

  /// What other elements attached: classes, the best one of each meta ...
  std::vector<RegionClass> classes() const;
  /// ... segmentations and masks ...
  std::vector<RegionSegmentation> segmentations() const;
  /// ... and who the object is. Regions of interest have none of these.
  std::optional<int> track_id() const;
  /// Says who it is to others, where the form has it.
  void set_track_id(int id) const;

 private:
  explicit RegionMeta(GstVideoRegionOfInterestMeta* meta) : region_of_interest_(meta) {}
  explicit RegionMeta(const AnalyticsRegion& region) : analytics_(region) {}

  GstVideoRegionOfInterestMeta* region_of_interest_ = nullptr;  ///< or:
  AnalyticsRegion analytics_;
};

/// The index of the region that the n-th one was found in, where it is among `regions`.
std::optional<size_t> parent_of(const std::vector<RegionMeta>& regions, size_t index);

}  // namespace het::gst
