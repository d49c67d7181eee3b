#include "analytics_segmentation.h"

#include <gst/video/video.h>

#include <set>
#include <span>

#include "analytics_library.h"

namespace het::gst {
namespace {

/// Those that occur, in ascending order.
template <class T>
std::vector<guint> occurring(const Tensor& ids) {
  const std::span<const T> values = ids.values<T>();
  const std::set<T> distinct(values.begin(), values.end());
  return {distinct.begin(), distinct.end()};
}

/// The tensor's own bytes as a picture of grey values.
GstBuffer* mask_of(const Tensor& ids, GstVideoFormat format, guint rows, guint columns) {
  auto* kept = new Tensor(ids);
  GstBuffer* mask = gst_buffer_new_wrapped_full(
      GST_MEMORY_FLAG_READONLY, kept->bytes(), kept->size_bytes(), 0, kept->size_bytes(), kept,
      [](gpointer tensor) { delete static_cast<Tensor*>(tensor); });
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0};
  gint strides[GST_VIDEO_MAX_PLANES] = {
      static_cast<gint>(columns * byte_width(ids.type()))};  // rows without padding
  gst_buffer_add_video_meta_full(mask, GST_VIDEO_FRAME_FLAG_NONE, format, columns, rows, 1, offsets,
                                 strides);
  return mask;
}

void add_labels(GstAnalyticsRelationMeta* relations, guint mtd, const std::vector<guint>& ids,
                const std::vector<std::string>& labels) {
  std::vector<GQuark> names;
  std::vector<gfloat> levels(ids.size(), 1.0f);
  for (const guint id : ids)
    names.push_back(g_quark_from_string(id < labels.size() ? labels[id].c_str() : ""));
  GstAnalyticsClsMtd classes;
  if (analytics().gst_analytics_relation_meta_add_cls_mtd(relations, names.size(), levels.data(),
                                                          names.data(), &classes)) {
    analytics().gst_analytics_relation_meta_set_relation(
        relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, mtd, classes.id);
  }
}

}  // namespace

guint add_segmentation(GstAnalyticsRelationMeta* relations,
                       const RegionSegmentation& segmentation) {
  const Tensor& ids = segmentation.ids;
  const Rect& rect = segmentation.rect;
  const bool narrow = ids.type() == ElementType::UInt8;
  if (ids.rank() < 2 || (!narrow && ids.type() != ElementType::UInt16) || rect.width <= 0 ||
      rect.height <= 0)
    return G_MAXUINT;
  const auto rows = static_cast<guint>(ids.shape()[ids.rank() - 2]);
  const auto columns = static_cast<guint>(ids.shape()[ids.rank() - 1]);
  std::vector<guint> regions = narrow ? occurring<uint8_t>(ids) : occurring<uint16_t>(ids);
  GstAnalyticsSegmentationMtd mtd;
  if (!analytics().gst_analytics_relation_meta_add_segmentation_mtd(
          relations,
          mask_of(ids, narrow ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE, rows, columns),
          segmentation.of_one_object ? GST_SEGMENTATION_TYPE_INSTANCE
                                     : GST_SEGMENTATION_TYPE_SEMANTIC,
          regions.size(), regions.data(), rect.x, rect.y, static_cast<guint>(rect.width),
          static_cast<guint>(rect.height), &mtd))
    return G_MAXUINT;
  if (!segmentation.labels.empty()) add_labels(relations, mtd.id, regions, segmentation.labels);
  return mtd.id;
}

}  // namespace het::gst
