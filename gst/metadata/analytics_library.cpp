#include "analytics_library.h"

#include "analytics_region.h"
#include "gst/frames/optional_library.h"

namespace het::gst {
namespace {

/// False where one of them is missing.
bool find_functions(AnalyticsLibrary& functions) {
  const OptionalLibrary library("libgstanalytics-1.0.so.0");
#define HET_FIND(name) library.find(#name, functions.name)
  return HET_FIND(gst_analytics_cls_mtd_get_length) && HET_FIND(gst_analytics_cls_mtd_get_level) &&
         HET_FIND(gst_analytics_cls_mtd_get_mtd_type) &&
         HET_FIND(gst_analytics_cls_mtd_get_quark) && HET_FIND(gst_analytics_mtd_get_mtd_type) &&
         HET_FIND(gst_analytics_mtd_get_size) &&
         HET_FIND(gst_analytics_od_mtd_get_confidence_lvl) &&
         HET_FIND(gst_analytics_od_mtd_get_location) &&
         HET_FIND(gst_analytics_od_mtd_get_mtd_type) &&
         HET_FIND(gst_analytics_od_mtd_get_oriented_location) &&
         HET_FIND(gst_analytics_od_mtd_get_obj_type) &&
         HET_FIND(gst_analytics_relation_get_length) &&
         HET_FIND(gst_analytics_relation_meta_add_cls_mtd) &&
         HET_FIND(gst_analytics_relation_meta_add_mtd) &&
         HET_FIND(gst_analytics_relation_meta_add_od_mtd) &&
         HET_FIND(gst_analytics_relation_meta_add_one_cls_mtd) &&
         HET_FIND(gst_analytics_relation_meta_add_oriented_od_mtd) &&
         HET_FIND(gst_analytics_relation_meta_add_segmentation_mtd) &&
         HET_FIND(gst_analytics_relation_meta_add_tracking_mtd) &&
         HET_FIND(gst_analytics_relation_meta_get_direct_related) &&
         HET_FIND(gst_analytics_relation_meta_get_mtd_data) &&
         HET_FIND(gst_analytics_relation_meta_get_od_mtd) &&
         HET_FIND(gst_analytics_relation_meta_get_relation) &&
         HET_FIND(gst_analytics_relation_meta_iterate) &&
         HET_FIND(gst_analytics_relation_meta_set_relation) &&
         HET_FIND(gst_analytics_segmentation_mtd_get_mask) &&
         HET_FIND(gst_analytics_segmentation_mtd_get_mtd_type) &&
         HET_FIND(gst_analytics_segmentation_mtd_get_region_count) &&
         HET_FIND(gst_analytics_segmentation_mtd_get_region_id) &&
         HET_FIND(gst_analytics_tracking_mtd_get_info) &&
         HET_FIND(gst_analytics_tracking_mtd_get_mtd_type) &&
         HET_FIND(gst_buffer_add_analytics_relation_meta) && HET_FIND(gst_buffer_add_tensor_meta) &&
         HET_FIND(gst_buffer_get_analytics_relation_meta) && HET_FIND(gst_tensor_meta_set) &&
         HET_FIND(gst_tensor_new_simple)
#if GST_CHECK_VERSION(1, 28, 0)
         && HET_FIND(gst_analytics_relation_meta_add_tensor_mtd_simple)
#endif
      ;
#undef HET_FIND
}

struct LoadedAnalytics {
  AnalyticsLibrary functions = {};
  bool is_complete = find_functions(functions);
};

const LoadedAnalytics& loaded_analytics() {
  static const LoadedAnalytics loaded;
  return loaded;
}

}  // namespace

const AnalyticsLibrary& analytics() {
  return loaded_analytics().functions;
}

bool has_analytics() {
  return loaded_analytics().is_complete;
}

}  // namespace het::gst
