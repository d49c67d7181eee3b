#include "region_meta.h"

#include <algorithm>

namespace het::gst {
namespace {

std::string valid_text(std::string_view text) {
  gchar* valid = g_utf8_make_valid(text.data(), static_cast<gssize>(text.size()));
  std::string result(valid);
  g_free(valid);
  return result;
}

GstVideoRegionOfInterestMeta* add_region_of_interest(GstBuffer* buffer, const Rect& rect,
                                                     const char* type) {
  GstVideoRegionOfInterestMeta* meta = gst_buffer_add_video_region_of_interest_meta(
      buffer, type, static_cast<guint>(rect.x), static_cast<guint>(rect.y),
      static_cast<guint>(rect.width), static_cast<guint>(rect.height));
  meta->id = static_cast<gint>(gst_util_seqnum_next());
  meta->parent_id = -1;
  return meta;
}

}  // namespace

MetadataForm default_metadata_form() {
  return kHasAnalytics ? MetadataForm::Analytics : MetadataForm::RegionOfInterest;
}

RegionMeta RegionMeta::add(GstBuffer* buffer, MetadataForm form, const Rect& rect,
                           std::string_view type, float confidence) {
  const std::string valid = valid_text(type);
  if constexpr (kHasAnalytics) {
    if (form == MetadataForm::Analytics)
      return RegionMeta(AnalyticsRegion::add(buffer, rect, valid.c_str(), confidence));
  }
  return RegionMeta(add_region_of_interest(buffer, rect, valid.c_str()));
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
    if (region.next(buffer, &cursor.analytics)) return RegionMeta(region);
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
  const auto bounded = [](guint value) {
    return static_cast<int>(std::min<guint>(value, G_MAXINT));
  };
  return {bounded(region_of_interest_->x), bounded(region_of_interest_->y),
          bounded(region_of_interest_->w), bounded(region_of_interest_->h)};
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

void RegionMeta::set_parent(const RegionMeta* parent) {
  if (parent == nullptr) return;
  if (region_of_interest_ != nullptr) {
    if (parent->region_of_interest_ != nullptr)
      region_of_interest_->parent_id = parent->region_of_interest_->id;
    return;
  }
  if constexpr (kHasAnalytics) {
    if (parent->region_of_interest_ == nullptr) analytics_.set_parent(parent->analytics_);
  }
}

void RegionMeta::add_params(GstStructure* params) {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) return analytics_.add_params(params);
  }
  gst_video_region_of_interest_meta_add_param(region_of_interest_, params);
}

void RegionMeta::add_segmentation([[maybe_unused]] const RegionSegmentation& segmentation) {
  if constexpr (kHasAnalytics) {
    if (region_of_interest_ == nullptr) analytics_.add_segmentation(segmentation);
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

}  // namespace het::gst
