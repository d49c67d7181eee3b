#include "analytics_region.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>

#include "analytics_library.h"
#include "analytics_relations.h"
#include "analytics_tensors.h"
#include "params_transform.h"
#include "picture_change.h"

namespace het::gst {
namespace {

/// Instead of an object's id: the record belongs to what others say of the whole picture.
constexpr guint kOfOthers = AnalyticsRegion::kNone - 1;

/// What our elements know about a region beyond what upstream's Mtds hold.
struct Record {
  GList* params;             ///< GstStructure*, owned
  guint object;              ///< AnalyticsRegion::kNone: the whole picture
  gint x, y, width, height;  ///< width 0: the object's
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
  if (GST_META_TRANSFORM_IS_COPY(type)) return TRUE;
  const std::optional<PictureChange> change = PictureChange::from(type, data);
  const Rect before{record->x, record->y, record->width, record->height};
  const std::optional<Rect> after = change ? change->rect(before) : std::nullopt;
  if (!change || (record->width > 0 && !after)) {
    g_list_free_full(record->params, free_params);
    record->params = nullptr;
    return FALSE;
  }
  transform_params(record->params, *change);
  if (record->width <= 0) return TRUE;
  record->x = after->x;
  record->y = after->y;
  record->width = after->width;
  record->height = after->height;
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

void relate(GstAnalyticsRelationMeta* relations, guint from, guint to) {
  analytics().gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                                       from, to);
}

guint add_record(GstAnalyticsRelationMeta* relations, const Record& content) {
  GstAnalyticsMtd mtd;
  auto* record = static_cast<Record*>(analytics().gst_analytics_relation_meta_add_mtd(
      relations, &kRecordImpl, sizeof(Record), &mtd));
  *record = content;
  if (content.object != AnalyticsRegion::kNone && content.object != kOfOthers)
    relate(relations, content.object, mtd.id);
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
          region.relations, static_cast<gfloat>(confidence), g_quark_from_string(label), &cls))
    return;
  relate(region.relations, region.record, cls.id);
  if (region.object != AnalyticsRegion::kNone) relate(region.relations, region.object, cls.id);
}

}  // namespace

AnalyticsRegion AnalyticsRegion::add(GstBuffer* buffer, const Rect& rect, const char* type,
                                     float confidence, const TurnedBox* turned) {
  AnalyticsRegion region;
  region.relations = analytics().gst_buffer_add_analytics_relation_meta(buffer);
  const GQuark name = g_quark_from_string(type);
  GstAnalyticsODMtd object;
  if (turned != nullptr) {
    const Rect& box = turned->rect;
    analytics().gst_analytics_relation_meta_add_oriented_od_mtd(
        region.relations, name, box.x, box.y, box.width, box.height, turned->rotation, confidence,
        &object);
  } else {
    analytics().gst_analytics_relation_meta_add_od_mtd(
        region.relations, name, rect.x, rect.y, rect.width, rect.height, confidence, &object);
  }
  region.object = object.id;
  Record record = {nullptr, region.object, 0, 0, 0, 0};
  if (turned != nullptr) record = {nullptr, region.object, rect.x, rect.y, rect.width, rect.height};
  region.record = add_record(region.relations, record);
  return region;
}

AnalyticsRegion AnalyticsRegion::add_whole_picture(GstBuffer* buffer, int width, int height) {
  AnalyticsRegion region;
  region.relations = analytics().gst_buffer_add_analytics_relation_meta(buffer);
  region.record = add_record(region.relations, {nullptr, kNone, 0, 0, width, height});
  return region;
}

bool AnalyticsRegion::next(GstBuffer* buffer, Cursor& cursor) {
  if (!has_analytics()) return false;
  relations = analytics().gst_buffer_get_analytics_relation_meta(buffer);
  if (relations == nullptr) return false;
  object = record = kNone;
  is_of_others = false;
  GstAnalyticsMtd mtd;
  while (analytics().gst_analytics_relation_meta_iterate(relations, &cursor.state,
                                                         GST_ANALYTICS_MTD_TYPE_ANY, &mtd)) {
    const GstAnalyticsMtdType type = analytics().gst_analytics_mtd_get_mtd_type(&mtd);
    if (type == analytics().gst_analytics_od_mtd_get_mtd_type()) {
      object = mtd.id;
      record = find_record();
      return true;
    }
    // That of an object has come with it.
    if (type == record_type() && record_of(relations, mtd.id)->object == kNone) {
      record = mtd.id;
      return true;
    }
    // All that others say of the whole picture is one region, in the place of the first of it.
    if (!cursor.past_others && is_of_whole_picture(mtd)) {
      cursor.past_others = true;
      is_of_others = true;
      record = find_record();
      return true;
    }
  }
  return false;
}

Rect AnalyticsRegion::rect() const {
  if (record != kNone) {
    const Record* content = record_of(relations, record);
    if (content->width > 0) return {content->x, content->y, content->width, content->height};
  }
  Rect rect;
  if (object == kNone) return rect;
  const GstAnalyticsODMtd od = object_of(*this);
  gfloat confidence = 0.0f;
  analytics().gst_analytics_od_mtd_get_location(&od, &rect.x, &rect.y, &rect.width, &rect.height,
                                                &confidence);
  return rect;
}

std::optional<TurnedBox> AnalyticsRegion::turned_box() const {
  if (object == kNone) return std::nullopt;
  const GstAnalyticsODMtd od = object_of(*this);
  TurnedBox box;
  gfloat confidence = 0.0f;
  if (!analytics().gst_analytics_od_mtd_get_oriented_location(&od, &box.rect.x, &box.rect.y,
                                                              &box.rect.width, &box.rect.height,
                                                              &box.rotation, &confidence) ||
      !std::isfinite(box.rotation) || box.rotation == 0.0f)
    return std::nullopt;
  return box;
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

guint AnalyticsRegion::find_record() const {
  GstAnalyticsMtd found;
  if (object != kNone) {
    const bool known = analytics().gst_analytics_relation_meta_get_direct_related(
        relations, object, GST_ANALYTICS_REL_TYPE_RELATE_TO, record_type(), nullptr, &found);
    return known ? found.id : kNone;
  }
  gpointer state = nullptr;
  while (
      analytics().gst_analytics_relation_meta_iterate(relations, &state, record_type(), &found)) {
    if (record_of(relations, found.id)->object == kOfOthers) return found.id;
  }
  return kNone;
}

/// Another handle of the same region may have added one.
guint AnalyticsRegion::own_record() {
  if (record == kNone) record = find_record();
  if (record == kNone)
    record = add_record(relations, {nullptr, is_of_others ? kOfOthers : object, 0, 0, 0, 0});
  return record;
}

void AnalyticsRegion::remove(GstBuffer* buffer) const {
  const std::vector<guint> kept = without(relations, {object, record});
  GstBuffer* rest = gst_buffer_new();
  GstAnalyticsRelationMeta* copy = copy_mtds(buffer, relations, kept, rest);
  // Records name their objects.
  for (guint id = 0; id < kept.size(); ++id) {
    GstAnalyticsMtd mtd{id, copy};
    if (analytics().gst_analytics_mtd_get_mtd_type(&mtd) != record_type()) continue;
    guint& named = record_of(copy, id)->object;
    const auto place = std::find(kept.begin(), kept.end(), named);
    if (place != kept.end()) named = static_cast<guint>(place - kept.begin());
  }
  gst_buffer_remove_meta(buffer, reinterpret_cast<GstMeta*>(relations));
  gst_buffer_copy_into(buffer, rest, GST_BUFFER_COPY_META, 0, static_cast<gsize>(-1));
  gst_buffer_unref(rest);
}

void AnalyticsRegion::add_params(GstStructure* params) {
  Record* content = record_of(relations, own_record());
  content->params = g_list_append(content->params, params);
  if (gst_structure_has_name(params, "classification")) add_class(*this, params);
  gint id = 0;
  if (gst_structure_has_name(params, "object_id") && gst_structure_get_int(params, "id", &id))
    set_track_id(id);
}

void AnalyticsRegion::add_segmentation(const RegionSegmentation& segmentation, int picture_width,
                                       int picture_height) {
  const auto inside = clipped(segmentation, picture_width, picture_height);
  const auto added = inside ? gst::add_segmentation(relations, *inside) : std::nullopt;
  if (!added) return;
  own_record();
  relate(relations, record, added->segmentation);
  if (added->names) relate(relations, record, *added->names);
  if (object != kNone) relate(relations, object, added->segmentation);
}

void AnalyticsRegion::add_tensors(const std::vector<ExchangedTensor>& tensors) const {
  if (object != kNone) add_tensor_mtds(relations, object, tensors);
}

const GList* AnalyticsRegion::params() const {
  return record == kNone ? nullptr : record_of(relations, record)->params;
}

bool AnalyticsRegion::is_ours(guint mtd) const {
  return record != kNone && analytics().gst_analytics_relation_meta_get_relation(
                                relations, record, mtd) != GST_ANALYTICS_REL_TYPE_NONE;
}

template <class Take>
void AnalyticsRegion::each_of_others(guintptr type, Take take) const {
  gpointer state = nullptr;
  GstAnalyticsMtd mtd;
  if (object != kNone) {
    while (analytics().gst_analytics_relation_meta_get_direct_related(relations, object, kJoins,
                                                                      type, &state, &mtd)) {
      if (!is_ours(mtd.id)) take(mtd);
    }
  } else if (is_of_others) {
    while (analytics().gst_analytics_relation_meta_iterate(relations, &state, type, &mtd)) {
      if (is_of_whole_picture(mtd)) take(mtd);
    }
  }
}

std::vector<RegionClass> AnalyticsRegion::classes() const {
  std::vector<RegionClass> classes;
  each_of_others(analytics().gst_analytics_cls_mtd_get_mtd_type(), [&](const GstAnalyticsMtd& mtd) {
    if (const auto best = best_class(mtd)) classes.push_back({best->label, best->level});
  });
  return classes;
}

std::vector<RegionSegmentation> AnalyticsRegion::segmentations() const {
  std::vector<RegionSegmentation> segmentations;
  each_of_others(analytics().gst_analytics_segmentation_mtd_get_mtd_type(),
                 [&](const GstAnalyticsMtd& mtd) {
                   if (std::optional<RegionSegmentation> read =
                           read_segmentation(relations, mtd.id, object != kNone))
                     segmentations.push_back(std::move(*read));
                 });
  return segmentations;
}

std::optional<int> AnalyticsRegion::track_id() const {
  gpointer state = nullptr;
  GstAnalyticsMtd track;
  while (object != kNone &&
         analytics().gst_analytics_relation_meta_get_direct_related(
             relations, object, kJoins, analytics().gst_analytics_tracking_mtd_get_mtd_type(),
             &state, &track)) {
    guint64 id = 0;
    GstClockTime first_seen = 0;
    GstClockTime last_seen = 0;
    gboolean is_lost = FALSE;
    if (analytics().gst_analytics_tracking_mtd_get_info(&track, &id, &first_seen, &last_seen,
                                                        &is_lost) &&
        id <= G_MAXINT)
      return static_cast<int>(id);
  }
  return std::nullopt;
}

void AnalyticsRegion::set_track_id(int id) const {
  if (object == kNone || id < 0 || track_id() == id) return;
  gpointer state = nullptr;
  GstAnalyticsMtd track;
  while (analytics().gst_analytics_relation_meta_get_direct_related(
      relations, object, kJoins, analytics().gst_analytics_tracking_mtd_get_mtd_type(), &state,
      &track)) {
    analytics().gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_NONE,
                                                         object, track.id);
  }
  // When it was seen first is not known here.
  if (analytics().gst_analytics_relation_meta_add_tracking_mtd(relations, static_cast<guint64>(id),
                                                               GST_CLOCK_TIME_NONE, &track))
    relate(relations, object, track.id);
}

}  // namespace het::gst
