#include "region_meta.h"

#include "region_of_interest.h"

namespace het::gst {
namespace {

std::string valid_text(std::string_view text) {
  gchar* valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string result(valid);
  g_free(valid);
  return result;
}

}  // namespace

MetadataForm default_metadata_form() {
  return has_analytics() ? MetadataForm::Analytics : MetadataForm::RegionOfInterest;
}

RegionMeta RegionMeta::add(GstBuffer* buffer, MetadataForm form, const Rect& rect,
                           std::string_view type, float confidence, const TurnedBox* turned) {
  const std::string valid = valid_text(type);
  if constexpr (kHasAnalytics) {
    if (form == MetadataForm::Analytics)
      return RegionMeta(AnalyticsRegion::add(buffer, rect, valid.c_str(), confidence, turned));
  }
  GstVideoRegionOfInterestMeta* region = add_region_of_interest(buffer, rect, valid.c_str());
  give_id(buffer, *region);
  return RegionMeta(region);
}

RegionMeta RegionMeta::add_whole_picture(GstBuffer* buffer, MetadataForm form, int width,
                                         int height) {
  if constexpr (kHasAnalytics) {
    if (form == MetadataForm::Analytics)
      return RegionMeta(AnalyticsRegion::add_whole_picture(buffer, width, height));
  }
  return RegionMeta(add_region_of_interest(buffer, {0, 0, width, height}, ""));
}

std::optional<RegionMeta> RegionMeta::next(GstBuffer* buffer, Cursor& cursor) {
  if (!cursor.in_analytics) {
    GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &cursor.region_of_interest,
                                                     GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
    if (meta != nullptr) return RegionMeta(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta));
    cursor.in_analytics = true;
  }
  if constexpr (kHasAnalytics) {
    AnalyticsRegion region;
    if (region.next(buffer, cursor.analytics)) return RegionMeta(region);
  }
  return std::nullopt;
}

std::vector<RegionMeta> RegionMeta::all(GstBuffer* buffer) {
  std::vector<RegionMeta> regions;
  Cursor cursor;
  while (const auto region = next(buffer, cursor)) regions.push_back(*region);
  return regions;
}

std::optional<RegionMeta> RegionMeta::at(GstBuffer* buffer, int index) {
  Cursor cursor;
  std::optional<RegionMeta> region = next(buffer, cursor);
  while (region && index-- > 0) region = next(buffer, cursor);
  return region;
}

std::optional<MetadataForm> RegionMeta::form_of(GstBuffer* buffer) {
  std::optional<MetadataForm> form;
  Cursor cursor;
  while (const auto region = next(buffer, cursor))
    form = region->region_of_interest_ ? MetadataForm::RegionOfInterest : MetadataForm::Analytics;
  return form;
}

Rect RegionMeta::rect() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.rect();
  }
  return rect_of(*region_of_interest_);
}

bool RegionMeta::has_rect() const {
  return region_of_interest_ != nullptr || !analytics_.is_of_others;
}

bool RegionMeta::is_whole_picture() const {
  if (region_of_interest_ == nullptr) return analytics_.object == AnalyticsRegion::kNone;
  return region_of_interest_->id == 0 && type().empty();
}

std::optional<TurnedBox> RegionMeta::turned_box() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.turned_box();
  }
  return std::nullopt;
}

std::optional<int> RegionMeta::id() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.id();
  }
  if (region_of_interest_->id == 0) return std::nullopt;
  return region_of_interest_->id;
}

std::optional<int> RegionMeta::parent_id() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.parent_id();
  }
  const int parent = region_of_interest_->parent_id;
  // Regions that others attach have the parent 0 unless they say something else.
  if (parent <= 0) return std::nullopt;
  return parent;
}

std::string_view RegionMeta::type() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.type();
  }
  const char* type = g_quark_to_string(region_of_interest_->roi_type);
  return type ? type : "";
}

std::optional<float> RegionMeta::confidence() const {
  if constexpr (kHasAnalytics) {
    if (analytics_.object != AnalyticsRegion::kNone) return analytics_.confidence();
  }
  return std::nullopt;
}

void RegionMeta::set_parent(GstBuffer* buffer, const RegionMeta* parent) {
  if (parent == nullptr) return;
  if (region_of_interest_ != nullptr) {
    if (parent->region_of_interest_ == nullptr) return;
    give_id(buffer, *parent->region_of_interest_);
    region_of_interest_->parent_id = parent->region_of_interest_->id;
    return;
  }
  if constexpr (kHasAnalytics) {
    if (parent->region_of_interest_ == nullptr) analytics_.set_parent(parent->analytics_);
  }
}

void RegionMeta::remove(GstBuffer* buffer) {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.remove(buffer);
  }
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* other = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    if (region_of_interest_->id > 0 && other->parent_id == region_of_interest_->id)
      other->parent_id = -1;
  }
  gst_buffer_remove_meta(buffer, &region_of_interest_->meta);
}

void RegionMeta::add_params(GstStructure* params) {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.add_params(params);
  }
  gst_video_region_of_interest_meta_add_param(region_of_interest_, params);
}

void RegionMeta::add_segmentation([[maybe_unused]] const RegionSegmentation& segmentation,
                                  [[maybe_unused]] int picture_width,
                                  [[maybe_unused]] int picture_height) {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr)
      analytics_.add_segmentation(segmentation, picture_width, picture_height);
  }
}

void RegionMeta::add_tensors([[maybe_unused]] const std::vector<ExchangedTensor>& tensors) {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) analytics_.add_tensors(tensors);
  }
}

const GList* RegionMeta::params() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.params();
  }
  return region_of_interest_->params;
}

std::vector<RegionClass> RegionMeta::classes() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.classes();
  }
  return {};
}

std::vector<RegionSegmentation> RegionMeta::segmentations() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.segmentations();
  }
  return {};
}

std::optional<int> RegionMeta::track_id() const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.track_id();
  }
  return std::nullopt;
}

void RegionMeta::set_track_id([[maybe_unused]] int id) const {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) analytics_.set_track_id(id);
  }
}

std::optional<size_t> parent_of(const std::vector<RegionMeta>& regions, size_t index) {
  const RegionMeta& region = regions[index];
  const std::optional<int> wanted = region.parent_id();
  if (!wanted) return std::nullopt;
  for (size_t i = 0; i < regions.size(); ++i) {
    if (i != index && regions[i].has_form_of(region) && regions[i].id() == wanted) return i;
  }
  return std::nullopt;
}

}  // namespace het::gst
