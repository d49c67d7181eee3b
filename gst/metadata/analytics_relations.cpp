#include "analytics_relations.h"

#include <cmath>

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
