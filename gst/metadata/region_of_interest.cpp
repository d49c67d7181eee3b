#include "region_of_interest.h"

#include <algorithm>

#include "params_transform.h"
#include "picture_change.h"

namespace het::gst {
namespace {

using Region = GstVideoRegionOfInterestMeta;

Region* region_of(GstMeta* meta) {
  return reinterpret_cast<Region*>(meta);
}

gboolean init_region(GstMeta* meta, gpointer, GstBuffer*) {
  Region* region = region_of(meta);
  region->roi_type = 0;
  region->id = 0;
  region->parent_id = -1;
  region->x = region->y = region->w = region->h = 0;
  region->params = nullptr;
  return TRUE;
}

void free_region(GstMeta* meta, GstBuffer*) {
  g_list_free_full(region_of(meta)->params,
                   [](gpointer params) { gst_structure_free(static_cast<GstStructure*>(params)); });
}

gboolean transform_region(GstBuffer* to, GstMeta* meta, GstBuffer*, GQuark type, gpointer data);

const GstMetaInfo* region_info() {
  static const GstMetaInfo* const info =
      gst_meta_register(GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE, "GstHeteroRegionOfInterestMeta",
                        sizeof(Region), init_region, free_region, transform_region);
  return info;
}

Region* add_region_meta(GstBuffer* buffer, const Rect& rect, GQuark type) {
  Region* region = region_of(gst_buffer_add_meta(buffer, region_info(), nullptr));
  region->roi_type = type;
  region->x = static_cast<guint>(rect.x);
  region->y = static_cast<guint>(rect.y);
  region->w = static_cast<guint>(rect.width);
  region->h = static_cast<guint>(rect.height);
  return region;
}

/// Outside of a picture that was cut there is no region.
gboolean transform_region(GstBuffer* to, GstMeta* meta, GstBuffer*, GQuark type, gpointer data) {
  const Region* from = region_of(meta);
  const Rect before = rect_of(*from);
  std::optional<Rect> after = before;
  std::optional<PictureChange> change;
  if (!GST_META_TRANSFORM_IS_COPY(type)) {
    change = PictureChange::from(type, data);
    after = change ? change->rect(before) : std::nullopt;
  }
  if (!after) return FALSE;
  Region* region = add_region_meta(to, *after, from->roi_type);
  region->id = from->id;
  region->parent_id = from->parent_id;
  region->params = g_list_copy_deep(
      from->params,
      [](gconstpointer params, gpointer) -> gpointer {
        return gst_structure_copy(static_cast<const GstStructure*>(params));
      },
      nullptr);
  if (!change) return TRUE;
  transform_params(region->params, *change);
  if (!change->keeps_relative_places()) move_params(region->params, change->moved(before), *after);
  return TRUE;
}

}  // namespace

GstVideoRegionOfInterestMeta* add_region_of_interest(GstBuffer* buffer, const Rect& rect,
                                                     const char* type) {
  return add_region_meta(buffer, rect, g_quark_from_string(type));
}

void give_id(GstBuffer* buffer, GstVideoRegionOfInterestMeta& region) {
  if (region.id != 0) return;
  gint id =
      static_cast<gint>(gst_buffer_get_n_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE));
  while (gst_buffer_get_video_region_of_interest_meta_id(buffer, id) != nullptr) ++id;
  region.id = id;
}

Rect rect_of(const GstVideoRegionOfInterestMeta& meta) {
  const auto bounded = [](guint value) {
    return static_cast<int>(std::min<guint>(value, G_MAXINT));
  };
  return {bounded(meta.x), bounded(meta.y), bounded(meta.w), bounded(meta.h)};
}

}  // namespace het::gst
