#include "region_meta.h"

#include <algorithm>

namespace het::gst {

RegionMeta RegionMeta::add(GstBuffer* buffer, const Rect& rect, std::string_view type) {
  gchar* valid = g_utf8_make_valid(type.data(), static_cast<gssize>(type.size()));
  GstVideoRegionOfInterestMeta* meta = gst_buffer_add_video_region_of_interest_meta(
      buffer, valid, static_cast<guint>(rect.x), static_cast<guint>(rect.y),
      static_cast<guint>(rect.width), static_cast<guint>(rect.height));
  g_free(valid);
  return RegionMeta(meta);
}

std::optional<RegionMeta> RegionMeta::next(GstBuffer* buffer, gpointer* state) {
  GstMeta* meta =
      gst_buffer_iterate_meta_filtered(buffer, state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  if (meta == nullptr) return std::nullopt;
  return RegionMeta(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta));
}

std::optional<RegionMeta> RegionMeta::at(GstBuffer* buffer, int index) {
  gpointer state = nullptr;
  std::optional<RegionMeta> region = next(buffer, &state);
  while (region && index-- > 0) region = next(buffer, &state);
  return region;
}

Rect RegionMeta::rect() const {
  const auto bounded = [](guint value) {
    return static_cast<int>(std::min<guint>(value, G_MAXINT));
  };
  return {bounded(meta_->x), bounded(meta_->y), bounded(meta_->w), bounded(meta_->h)};
}

std::string_view RegionMeta::type() const {
  const char* type = g_quark_to_string(meta_->roi_type);
  return type ? type : "";
}

void RegionMeta::add_params(GstStructure* params) {
  gst_video_region_of_interest_meta_add_param(meta_, params);
}

}  // namespace het::gst
