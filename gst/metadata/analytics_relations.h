#pragma once

#include <gst/analytics/analytics.h>

#include <optional>
#include <string>

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

struct BestClass {
  std::string label;
  float level = 0.0f;
};

/// The class with the highest level; none where no class has a name.
std::optional<BestClass> best_class(const GstAnalyticsClsMtd& classes);

}  // namespace het::gst
