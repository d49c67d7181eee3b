#include "analytics_segmentation.h"

#include <gst/video/video.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

#include "analytics_library.h"
#include "analytics_relations.h"

namespace het::gst {
namespace {

/// Upstream's overlay has as many colours unless told otherwise, and paints no multiple of 11.
constexpr guint kMaskColors = 10;

constexpr guint kMaxRegionId = 0xffff;

/// Those that occur, in ascending order.
template <class T>
std::vector<guint> occurring(const Tensor& ids) {
  const std::span<const T> values = ids.values<T>();
  const std::set<T> distinct(values.begin(), values.end());
  return {distinct.begin(), distinct.end()};
}

std::vector<guint> occurring_ids(const Tensor& ids) {
  return ids.type() == ElementType::UInt8 ? occurring<uint8_t>(ids) : occurring<uint16_t>(ids);
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

/// Every object's mask of the frame gets another number.
Tensor numbered(GstAnalyticsRelationMeta* relations, const Tensor& ids) {
  guint masks = 0;
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  while (analytics().gst_analytics_relation_meta_iterate(
      relations, &state, analytics().gst_analytics_segmentation_mtd_get_mtd_type(), &mtd))
    ++masks;
  const auto number = static_cast<uint8_t>(1 + masks % kMaskColors);
  std::vector<uint8_t> values;
  for (const uint8_t id : ids.values<uint8_t>()) values.push_back(id != 0 ? number : 0);
  return Tensor::from<uint8_t>(ids.shape(), values);
}

std::optional<guint> add_names(GstAnalyticsRelationMeta* relations, guint mtd, size_t count,
                               const std::vector<std::string>& labels) {
  std::vector<GQuark> names;
  std::vector<gfloat> levels(count, 1.0f);
  for (size_t id = 0; id < count; ++id)
    names.push_back(g_quark_from_string(id < labels.size() ? labels[id].c_str() : ""));
  GstAnalyticsClsMtd classes;
  if (!analytics().gst_analytics_relation_meta_add_cls_mtd(relations, names.size(), levels.data(),
                                                           names.data(), &classes))
    return std::nullopt;
  analytics().gst_analytics_relation_meta_set_relation(relations, kNames, mtd, classes.id);
  return classes.id;
}

/// What is left of `count` places over [start, start + size) inside [0, limit).
struct ClippedAxis {
  int start = 0;
  int size = 0;
  std::vector<size_t> places;  ///< which of them, for each that is left
};

ClippedAxis clip_axis(int start, int size, int64_t count, int limit) {
  ClippedAxis axis;
  axis.start = std::max(start, 0);
  axis.size = static_cast<int>(std::min<int64_t>(int64_t{start} + size, limit)) - axis.start;
  if (axis.size <= 0 || size <= 0 || count <= 0) return axis;
  const int64_t left = std::max<int64_t>(1, (count * axis.size + size / 2) / size);
  for (int64_t i = 0; i < left; ++i) {
    const double pixel = static_cast<double>(axis.start) - start +
                         (static_cast<double>(i) + 0.5) * axis.size / static_cast<double>(left);
    const auto place = static_cast<int64_t>(pixel * static_cast<double>(count) / size);
    axis.places.push_back(static_cast<size_t>(std::clamp<int64_t>(place, 0, count - 1)));
  }
  return axis;
}

template <class T>
Tensor picked(const Tensor& ids, size_t columns, const ClippedAxis& x, const ClippedAxis& y) {
  const std::span<const T> values = ids.values<T>();
  std::vector<T> left;
  for (const size_t row : y.places) {
    for (const size_t column : x.places) left.push_back(values[row * columns + column]);
  }
  return Tensor::from<T>(
      {static_cast<int64_t>(y.places.size()), static_cast<int64_t>(x.places.size())}, left);
}

bool holds_ids(const Tensor& ids) {
  return ids.rank() >= 2 && ids.element_count() > 0 &&
         (ids.type() == ElementType::UInt8 || ids.type() == ElementType::UInt16) &&
         ids.element_count() ==
             ids.shape()[static_cast<size_t>(ids.rank()) - 2] * ids.shape().back();
}

/// yolosegv8tensordec of 1.28 leaves rows without padding in buffers whose GstVideoMeta tells that
/// of a larger mask; 1.30 tells the right one. Its masks list nothing but region 0 and point back
/// to their object.
bool has_packed_rows(const GstAnalyticsSegmentationMtd& mtd, const std::vector<guint>& regions) {
  guint major = 0;
  guint minor = 0;
  guint micro = 0;
  guint nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  GstAnalyticsMtd object;
  return major == 1 && minor < 29 && regions == std::vector<guint>{0} &&
         analytics().gst_analytics_relation_meta_get_direct_related(
             mtd.meta, mtd.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
             analytics().gst_analytics_od_mtd_get_mtd_type(), nullptr, &object);
}

/// The values of a mask, row by row. None where the buffer is too short for them.
std::optional<Tensor> read_mask_ids(GstBuffer* mask, bool has_packed_rows) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(mask);
  if (meta == nullptr || meta->width == 0 || meta->height == 0) return std::nullopt;
  const bool is_narrow = meta->format == GST_VIDEO_FORMAT_GRAY8;
  const bool is_big_endian = meta->format == GST_VIDEO_FORMAT_GRAY16_BE;
  if (!is_narrow && !is_big_endian && meta->format != GST_VIDEO_FORMAT_GRAY16_LE)
    return std::nullopt;
  const guint64 row_bytes = guint64{meta->width} * (is_narrow ? 1 : 2);
  if (meta->stride[0] < 0 || static_cast<guint64>(meta->stride[0]) < row_bytes) return std::nullopt;
  const guint64 stride = has_packed_rows ? row_bytes : static_cast<guint64>(meta->stride[0]);
  GstMapInfo map;
  if (!gst_buffer_map(mask, &map, GST_MAP_READ)) return std::nullopt;
  const guint64 rows_bytes = stride * (meta->height - 1) + row_bytes;
  std::optional<Tensor> ids;
  if (meta->offset[0] <= map.size && rows_bytes <= map.size - meta->offset[0]) {
    const Shape shape{1, meta->height, meta->width};
    std::vector<uint8_t> bytes;
    std::vector<uint16_t> words;
    for (guint y = 0; y < meta->height; ++y) {
      const guint8* row = map.data + meta->offset[0] + stride * y;
      if (is_narrow) {
        bytes.insert(bytes.end(), row, row + row_bytes);
        continue;
      }
      for (guint x = 0; x < meta->width; ++x)
        words.push_back(is_big_endian ? GST_READ_UINT16_BE(row + 2 * x)
                                      : GST_READ_UINT16_LE(row + 2 * x));
    }
    ids = is_narrow ? Tensor::from<uint8_t>(shape, bytes) : Tensor::from<uint16_t>(shape, words);
  }
  gst_buffer_unmap(mask, &map);
  return ids;
}

std::vector<guint> region_ids(const GstAnalyticsSegmentationMtd& mtd) {
  std::vector<guint> ids;
  const gsize count = analytics().gst_analytics_segmentation_mtd_get_region_count(&mtd);
  for (gsize i = 0; i < count; ++i)
    ids.push_back(analytics().gst_analytics_segmentation_mtd_get_region_id(&mtd, i));
  return ids;
}

/// By region id.
std::vector<std::string> read_names(const GstAnalyticsSegmentationMtd& mtd,
                                    const std::vector<guint>& ids) {
  std::vector<std::string> labels;
  GstAnalyticsClsMtd classes;
  if (!analytics().gst_analytics_relation_meta_get_direct_related(
          mtd.meta, mtd.id, kNames, analytics().gst_analytics_cls_mtd_get_mtd_type(), nullptr,
          &classes))
    return labels;
  const gsize count =
      std::min<gsize>(ids.size(), analytics().gst_analytics_cls_mtd_get_length(&classes));
  for (gsize i = 0; i < count; ++i) {
    const char* name = g_quark_to_string(analytics().gst_analytics_cls_mtd_get_quark(&classes, i));
    if (name == nullptr || ids[i] > kMaxRegionId) continue;
    if (ids[i] >= labels.size()) labels.resize(ids[i] + 1);
    labels[ids[i]] = name;
  }
  return labels;
}

size_t foreground_count(const std::vector<guint>& ids) {
  return static_cast<size_t>(
      std::count_if(ids.begin(), ids.end(), [](guint id) { return id != 0; }));
}

}  // namespace

std::optional<RegionSegmentation> clipped(const RegionSegmentation& segmentation, int width,
                                          int height) {
  const Rect& rect = segmentation.rect;
  const Tensor& ids = segmentation.ids;
  if (clip(rect, width, height) == rect) return segmentation;
  if (!holds_ids(ids)) return std::nullopt;
  const int64_t columns = ids.shape().back();
  const int64_t rows = ids.element_count() / std::max<int64_t>(columns, 1);
  const ClippedAxis x = clip_axis(rect.x, rect.width, columns, width);
  const ClippedAxis y = clip_axis(rect.y, rect.height, rows, height);
  if (x.places.empty() || y.places.empty()) return std::nullopt;
  RegionSegmentation inside = segmentation;
  inside.rect = {x.start, y.start, x.size, y.size};
  inside.ids = ids.type() == ElementType::UInt8
                   ? picked<uint8_t>(ids, static_cast<size_t>(columns), x, y)
                   : picked<uint16_t>(ids, static_cast<size_t>(columns), x, y);
  return inside;
}

std::optional<SegmentationIds> add_segmentation(GstAnalyticsRelationMeta* relations,
                                                const RegionSegmentation& segmentation) {
  const Rect& rect = segmentation.rect;
  if (!holds_ids(segmentation.ids) || rect.width <= 0 || rect.height <= 0) return std::nullopt;
  const bool narrow = segmentation.ids.type() == ElementType::UInt8;
  const Tensor ids = segmentation.of_one_object && narrow ? numbered(relations, segmentation.ids)
                                                          : segmentation.ids;
  std::vector<guint> regions = occurring_ids(ids);
  if (!segmentation.labels.empty()) {
    regions.resize(std::max<size_t>(segmentation.labels.size(), regions.back() + 1));
    std::iota(regions.begin(), regions.end(), 0u);
  }
  const auto rows = static_cast<guint>(ids.shape()[static_cast<size_t>(ids.rank()) - 2]);
  const auto columns = static_cast<guint>(ids.shape().back());
  GstAnalyticsSegmentationMtd mtd;
  if (!analytics().gst_analytics_relation_meta_add_segmentation_mtd(
          relations,
          mask_of(ids, narrow ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE, rows, columns),
          segmentation.of_one_object ? GST_SEGMENTATION_TYPE_INSTANCE
                                     : GST_SEGMENTATION_TYPE_SEMANTIC,
          regions.size(), regions.data(), rect.x, rect.y, static_cast<guint>(rect.width),
          static_cast<guint>(rect.height), &mtd))
    return std::nullopt;
  SegmentationIds added{mtd.id, std::nullopt};
  if (!segmentation.labels.empty())
    added.names = add_names(relations, mtd.id, regions.size(), segmentation.labels);
  return added;
}

std::optional<RegionSegmentation> read_segmentation(GstAnalyticsRelationMeta* relations, guint id,
                                                    bool of_object) {
  const GstAnalyticsSegmentationMtd mtd{id, relations};
  RegionSegmentation segmentation;
  Rect& rect = segmentation.rect;
  guint width = 0;
  guint height = 0;
  GstBuffer* mask =
      analytics().gst_analytics_segmentation_mtd_get_mask(&mtd, &rect.x, &rect.y, &width, &height);
  if (mask == nullptr) return std::nullopt;
  const std::vector<guint> regions = region_ids(mtd);
  const std::optional<Tensor> ids = read_mask_ids(mask, has_packed_rows(mtd, regions));
  gst_buffer_unref(mask);
  if (!ids || width == 0 || height == 0 || width > G_MAXINT || height > G_MAXINT)
    return std::nullopt;
  rect.width = static_cast<int>(width);
  rect.height = static_cast<int>(height);
  segmentation.ids = *ids;
  segmentation.of_one_object =
      of_object && foreground_count(regions) <= 1 && foreground_count(occurring_ids(*ids)) <= 1;
  if (!segmentation.of_one_object) segmentation.labels = read_names(mtd, regions);
  return segmentation;
}

}  // namespace het::gst
