#include "analytics_relations.h"

#include <cmath>
#include <cstring>

#include "analytics_library.h"

namespace het::gst {

bool is_of_whole_picture(const GstAnalyticsMtd& mtd) {
  const GstAnalyticsMtdType type = analytics().gst_analytics_mtd_get_mtd_type(&mtd);
  if (type != analytics().gst_analytics_cls_mtd_get_mtd_type() &&
      type != analytics().gst_analytics_segmentation_mtd_get_mtd_type())
    return false;
  const auto points_to_it = [&](guint id) {
    return analytics().gst_analytics_relation_meta_get_relation(mtd.meta, id, mtd.id) !=
           GST_ANALYTICS_REL_TYPE_NONE;
  };
  // What it belongs to was mostly attached just before.
  for (guint id = mtd.id; id-- > 0;) {
    if (points_to_it(id)) return false;
  }
  const auto count = static_cast<guint>(analytics().gst_analytics_relation_get_length(mtd.meta));
  for (guint id = mtd.id + 1; id < count; ++id) {
    if (points_to_it(id)) return false;
  }
  GstAnalyticsMtd object;
  return !analytics().gst_analytics_relation_meta_get_direct_related(
      mtd.meta, mtd.id, GST_ANALYTICS_REL_TYPE_ANY, analytics().gst_analytics_od_mtd_get_mtd_type(),
      nullptr, &object);
}

std::vector<guint> without(GstAnalyticsRelationMeta* relations, const std::vector<guint>& ids) {
  const auto count = static_cast<guint>(analytics().gst_analytics_relation_get_length(relations));
  std::vector<char> goes(count, 0);
  for (const guint id : ids) {
    if (id < count) goes[id] = 1;
  }
  const auto is_object = [&](guint id) {
    const GstAnalyticsMtd mtd{id, relations};
    return analytics().gst_analytics_mtd_get_mtd_type(&mtd) ==
           analytics().gst_analytics_od_mtd_get_mtd_type();
  };
  const auto related = [&](guint from, guint to) {
    return analytics().gst_analytics_relation_meta_get_relation(relations, from, to) !=
               GST_ANALYTICS_REL_TYPE_NONE ||
           analytics().gst_analytics_relation_meta_get_relation(relations, to, from) !=
               GST_ANALYTICS_REL_TYPE_NONE;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (guint id = 0; id < count; ++id) {
      if (goes[id] != 0 || is_object(id)) continue;
      bool to_going = false;
      bool to_staying = false;
      for (guint other = 0; other < count; ++other) {
        if (other == id || !related(id, other)) continue;
        // What was attached to one that goes does not hold itself.
        (goes[other] != 0 ? to_going : to_staying) = true;
      }
      if (!to_going || to_staying) continue;
      goes[id] = 1;
      changed = true;
    }
  }
  std::vector<guint> kept;
  for (guint id = 0; id < count; ++id) {
    if (goes[id] == 0) kept.push_back(id);
  }
  return kept;
}

GstAnalyticsRelationMeta* copy_mtds(GstBuffer* from, GstAnalyticsRelationMeta* relations,
                                    const std::vector<guint>& ids, GstBuffer* to) {
  GstAnalyticsRelationMeta* copy = analytics().gst_buffer_add_analytics_relation_meta(to);
  GstMetaTransformCopy whole = {FALSE, 0, static_cast<gsize>(-1)};
  for (const guint id : ids) {
    const GstAnalyticsMtd mtd{id, relations};
    // The type of an Mtd is where its functions are.
    const auto* impl = reinterpret_cast<const GstAnalyticsMtdImpl*>(
        analytics().gst_analytics_mtd_get_mtd_type(&mtd));
    const gsize size = analytics().gst_analytics_mtd_get_size(&mtd);
    GstAnalyticsMtd added;
    gpointer bytes = analytics().gst_analytics_relation_meta_add_mtd(copy, impl, size, &added);
    std::memcpy(bytes, analytics().gst_analytics_relation_meta_get_mtd_data(relations, id), size);
    if (impl->mtd_meta_transform != nullptr)
      impl->mtd_meta_transform(to, &added, from, _gst_meta_transform_copy, &whole);
  }
  for (guint i = 0; i < ids.size(); ++i) {
    for (guint j = 0; j < ids.size(); ++j) {
      const GstAnalyticsRelTypes type =
          i == j ? GST_ANALYTICS_REL_TYPE_NONE
                 : analytics().gst_analytics_relation_meta_get_relation(relations, ids[i], ids[j]);
      if (type != GST_ANALYTICS_REL_TYPE_NONE)
        analytics().gst_analytics_relation_meta_set_relation(copy, type, i, j);
    }
  }
  return copy;
}

std::optional<BestClass> best_class(const GstAnalyticsClsMtd& classes) {
  std::optional<BestClass> best;
  const gsize count = analytics().gst_analytics_cls_mtd_get_length(&classes);
  for (gsize i = 0; i < count; ++i) {
    const char* label = g_quark_to_string(analytics().gst_analytics_cls_mtd_get_quark(&classes, i));
    if (label == nullptr || *label == '\0') continue;
    float level = analytics().gst_analytics_cls_mtd_get_level(&classes, i);
    if (std::isnan(level)) level = 0.0f;
    if (!best || level > best->level) best = BestClass{label, level};
  }
  return best;
}

}  // namespace het::gst
