#include "analytics_region.h"

#include <gst/video/video.h>

#include "analytics_library.h"
#include "scaled_rect.h"

namespace het::gst {
namespace {

/// What our elements know about a region beyond what upstream's Mtds hold.
struct Record {
  GList* params;  ///< GstStructure*, owned
  guint object;   ///< AnalyticsRegion::kNone: `area` says where
  gint x, y, width, height;
};

gpointer copy_params(gconstpointer params, gpointer) {
  return gst_structure_copy(static_cast<const GstStructure*>(params));
}

void free_params(gpointer params) {
  gst_structure_free(static_cast<GstStructure*>(params));
}

Record* record_of(GstAnalyticsRelationMeta* relations, guint id) {
  return static_cast<Record*>(analytics().gst_analytics_relation_meta_get_mtd_data(relations, id));
}

/// GStreamer has copied the bytes of the record.
gboolean transform_record(GstBuffer*, GstAnalyticsMtd* mtd, GstBuffer*, GQuark type,
                          gpointer data) {
  Record* record = record_of(mtd->meta, mtd->id);
  record->params = g_list_copy_deep(record->params, copy_params, nullptr);
  if (!GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) return TRUE;
  const auto* scale = static_cast<const GstVideoMetaTransform*>(data);
  const Rect rect =
      scaled_rect({record->x, record->y, record->width, record->height},
                  GST_VIDEO_INFO_WIDTH(scale->in_info), GST_VIDEO_INFO_HEIGHT(scale->in_info),
                  GST_VIDEO_INFO_WIDTH(scale->out_info), GST_VIDEO_INFO_HEIGHT(scale->out_info));
  record->x = rect.x;
  record->y = rect.y;
  record->width = rect.width;
  record->height = rect.height;
  return TRUE;
}

void clear_record(GstBuffer*, GstAnalyticsMtd* mtd) {
  Record* record = record_of(mtd->meta, mtd->id);
  g_list_free_full(record->params, free_params);
  record->params = nullptr;
}

constexpr GstAnalyticsMtdImpl kRecordImpl = {"hetero-region", transform_record, clear_record, {}};

GstAnalyticsMtdType record_type() {
  return reinterpret_cast<GstAnalyticsMtdType>(&kRecordImpl);
}

guint add_record(GstAnalyticsRelationMeta* relations, const Record& content) {
  GstAnalyticsMtd mtd;
  auto* record = static_cast<Record*>(analytics().gst_analytics_relation_meta_add_mtd(
      relations, &kRecordImpl, sizeof(Record), &mtd));
  *record = content;
  if (content.object != AnalyticsRegion::kNone) {
    analytics().gst_analytics_relation_meta_set_relation(
        relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, content.object, mtd.id);
  }
  return mtd.id;
}

GstAnalyticsODMtd object_of(const AnalyticsRegion& region) {
  GstAnalyticsODMtd object;
  analytics().gst_analytics_relation_meta_get_od_mtd(region.relations, region.object, &object);
  return object;
}

void add_class(const AnalyticsRegion& region, const GstStructure* params) {
  const char* label = gst_structure_get_string(params, "label");
  if (label == nullptr) return;
  gdouble confidence = 0.0;
  gst_structure_get_double(params, "confidence", &confidence);
  GstAnalyticsClsMtd cls;
  if (!analytics().gst_analytics_relation_meta_add_one_cls_mtd(
          region.relations, static_cast<gfloat>(confidence), g_quark_from_string(label), &cls) ||
      region.object == AnalyticsRegion::kNone)
    return;
  analytics().gst_analytics_relation_meta_set_relation(
      region.relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, region.object, cls.id);
}

/// When it was seen first is not known here.
void add_track(const AnalyticsRegion& region, const GstStructure* params) {
  gint id = 0;
  GstAnalyticsMtd track;
  if (region.object == AnalyticsRegion::kNone || !gst_structure_get_int(params, "id", &id) ||
      analytics().gst_analytics_relation_meta_get_direct_related(
          region.relations, region.object, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          analytics().gst_analytics_tracking_mtd_get_mtd_type(), nullptr, &track) ||
      !analytics().gst_analytics_relation_meta_add_tracking_mtd(
          region.relations, static_cast<guint64>(id), GST_CLOCK_TIME_NONE, &track))
    return;
  analytics().gst_analytics_relation_meta_set_relation(
      region.relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, region.object, track.id);
}

}  // namespace

AnalyticsRegion AnalyticsRegion::add(GstBuffer* buffer, const Rect& rect, const char* type,
                                     float confidence) {
  AnalyticsRegion region;
  region.relations = analytics().gst_buffer_add_analytics_relation_meta(buffer);
  GstAnalyticsODMtd object;
  analytics().gst_analytics_relation_meta_add_od_mtd(region.relations, g_quark_from_string(type),
                                                     rect.x, rect.y, rect.width, rect.height,
                                                     confidence, &object);
  region.object = object.id;
  region.record = add_record(region.relations, {nullptr, region.object, 0, 0, 0, 0});
  return region;
}

AnalyticsRegion AnalyticsRegion::add_whole_picture(GstBuffer* buffer, int width, int height) {
  AnalyticsRegion region;
  region.relations = analytics().gst_buffer_add_analytics_relation_meta(buffer);
  region.record = add_record(region.relations, {nullptr, kNone, 0, 0, width, height});
  return region;
}

bool AnalyticsRegion::next(GstBuffer* buffer, gpointer* state) {
  if (!has_analytics()) return false;
  relations = analytics().gst_buffer_get_analytics_relation_meta(buffer);
  if (relations == nullptr) return false;
  GstAnalyticsMtd mtd;
  while (analytics().gst_analytics_relation_meta_iterate(relations, state,
                                                         GST_ANALYTICS_MTD_TYPE_ANY, &mtd)) {
    const GstAnalyticsMtdType type = analytics().gst_analytics_mtd_get_mtd_type(&mtd);
    if (type == analytics().gst_analytics_od_mtd_get_mtd_type()) {
      object = mtd.id;
      GstAnalyticsMtd found;
      const bool known = analytics().gst_analytics_relation_meta_get_direct_related(
          relations, object, GST_ANALYTICS_REL_TYPE_RELATE_TO, record_type(), nullptr, &found);
      record = known ? found.id : kNone;
      return true;
    }
    // That of an object has come with it.
    if (type == record_type() && record_of(relations, mtd.id)->object == kNone) {
      object = kNone;
      record = mtd.id;
      return true;
    }
  }
  return false;
}

Rect AnalyticsRegion::rect() const {
  Rect rect;
  if (object == kNone) {
    const Record* content = record_of(relations, record);
    return {content->x, content->y, content->width, content->height};
  }
  const GstAnalyticsODMtd od = object_of(*this);
  gfloat confidence = 0.0f;
  analytics().gst_analytics_od_mtd_get_location(&od, &rect.x, &rect.y, &rect.width, &rect.height,
                                                &confidence);
  return rect;
}

const char* AnalyticsRegion::type() const {
  if (object == kNone) return "";
  const GstAnalyticsODMtd od = object_of(*this);
  const char* type = g_quark_to_string(analytics().gst_analytics_od_mtd_get_obj_type(&od));
  return type != nullptr ? type : "";
}

float AnalyticsRegion::confidence() const {
  gfloat confidence = 0.0f;
  if (object == kNone) return confidence;
  const GstAnalyticsODMtd od = object_of(*this);
  analytics().gst_analytics_od_mtd_get_confidence_lvl(&od, &confidence);
  return confidence;
}

std::optional<int> AnalyticsRegion::id() const {
  if (object == kNone) return std::nullopt;
  return static_cast<int>(object);
}

std::optional<int> AnalyticsRegion::parent_id() const {
  GstAnalyticsMtd parent;
  if (object == kNone || !analytics().gst_analytics_relation_meta_get_direct_related(
                             relations, object, GST_ANALYTICS_REL_TYPE_IS_PART_OF,
                             analytics().gst_analytics_od_mtd_get_mtd_type(), nullptr, &parent))
    return std::nullopt;
  return static_cast<int>(parent.id);
}

void AnalyticsRegion::set_parent(const AnalyticsRegion& parent) const {
  if (object == kNone || parent.object == kNone) return;
  analytics().gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_IS_PART_OF,
                                                       object, parent.object);
}

void AnalyticsRegion::add_params(GstStructure* params) {
  if (record == kNone) record = add_record(relations, {nullptr, object, 0, 0, 0, 0});
  Record* content = record_of(relations, record);
  content->params = g_list_append(content->params, params);
  if (gst_structure_has_name(params, "classification")) add_class(*this, params);
  if (gst_structure_has_name(params, "object_id")) add_track(*this, params);
}

void AnalyticsRegion::add_segmentation(const RegionSegmentation& segmentation) const {
  const guint mtd = gst::add_segmentation(relations, segmentation);
  if (mtd == G_MAXUINT || object == kNone) return;
  analytics().gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                                       object, mtd);
}

const GList* AnalyticsRegion::params() const {
  return record == kNone ? nullptr : record_of(relations, record)->params;
}

std::vector<RegionClass> AnalyticsRegion::classes() const {
  std::vector<RegionClass> classes;
  if (object == kNone) return classes;
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  while (analytics().gst_analytics_relation_meta_get_direct_related(
      relations, object, GST_ANALYTICS_REL_TYPE_RELATE_TO,
      analytics().gst_analytics_cls_mtd_get_mtd_type(), &state, &mtd)) {
    const char* label = g_quark_to_string(analytics().gst_analytics_cls_mtd_get_quark(&mtd, 0));
    if (label != nullptr)
      classes.push_back({label, analytics().gst_analytics_cls_mtd_get_level(&mtd, 0)});
  }
  return classes;
}

}  // namespace het::gst
