#pragma once

#include <gst/analytics/analytics.h>

#include <optional>
#include <string>
#include <vector>

namespace het::gst {

/// Relations by which an object has classes, segmentations and tracks; upstream's elements use
/// RELATE_TO.
inline constexpr auto kJoins = static_cast<GstAnalyticsRelTypes>(GST_ANALYTICS_REL_TYPE_RELATE_TO |
                                                                 GST_ANALYTICS_REL_TYPE_CONTAIN |
                                                                 GST_ANALYTICS_REL_TYPE_IS_PART_OF);

/// Those of a segmentation and the ClsMtd with the names of its regions: upstream's library
/// documents RELATE_TO, its overlay looks for N_TO_N.
inline constexpr auto kNames = static_cast<GstAnalyticsRelTypes>(GST_ANALYTICS_REL_TYPE_RELATE_TO |
                                                                 GST_ANALYTICS_REL_TYPE_N_TO_N);

/// True for a class or a segmentation that belongs to nothing else in the frame.
bool is_of_whole_picture(const GstAnalyticsMtd& mtd);

/// The ids of all Mtds but these and what is related to them and to nothing else; objects always
/// stay. Ids without an Mtd count as none.
std::vector<guint> without(GstAnalyticsRelationMeta* relations, const std::vector<guint>& ids);

/// Adds these Mtds of a buffer to another one, which has none, with the relations among them.
GstAnalyticsRelationMeta* copy_mtds(GstBuffer* from, GstAnalyticsRelationMeta* relations,
                                    const std::vector<guint>& ids, GstBuffer* to);

struct BestClass {
  std::string label;
  float level = 0.0f;
};

/// The class with the highest level; none where no class has a name.
std::optional<BestClass> best_class(const GstAnalyticsClsMtd& classes);

}  // namespace het::gst
