#pragma once

#include <gst/analytics/analytics.h>

namespace het::gst {

/// The functions of libgstanalytics-1.0 that metadata needs, under their own names.
struct AnalyticsLibrary {
  decltype(&::gst_analytics_cls_mtd_get_length) gst_analytics_cls_mtd_get_length;
  decltype(&::gst_analytics_cls_mtd_get_level) gst_analytics_cls_mtd_get_level;
  decltype(&::gst_analytics_cls_mtd_get_mtd_type) gst_analytics_cls_mtd_get_mtd_type;
  decltype(&::gst_analytics_cls_mtd_get_quark) gst_analytics_cls_mtd_get_quark;
  decltype(&::gst_analytics_mtd_get_mtd_type) gst_analytics_mtd_get_mtd_type;
  decltype(&::gst_analytics_mtd_get_size) gst_analytics_mtd_get_size;
  decltype(&::gst_analytics_od_mtd_get_confidence_lvl) gst_analytics_od_mtd_get_confidence_lvl;
  decltype(&::gst_analytics_od_mtd_get_location) gst_analytics_od_mtd_get_location;
  decltype(&::gst_analytics_od_mtd_get_mtd_type) gst_analytics_od_mtd_get_mtd_type;
  decltype(&::gst_analytics_od_mtd_get_oriented_location)
      gst_analytics_od_mtd_get_oriented_location;
  decltype(&::gst_analytics_od_mtd_get_obj_type) gst_analytics_od_mtd_get_obj_type;
  decltype(&::gst_analytics_relation_get_length) gst_analytics_relation_get_length;
  decltype(&::gst_analytics_relation_meta_add_cls_mtd) gst_analytics_relation_meta_add_cls_mtd;
  decltype(&::gst_analytics_relation_meta_add_mtd) gst_analytics_relation_meta_add_mtd;
  decltype(&::gst_analytics_relation_meta_add_od_mtd) gst_analytics_relation_meta_add_od_mtd;
  decltype(&::gst_analytics_relation_meta_add_one_cls_mtd)
      gst_analytics_relation_meta_add_one_cls_mtd;
  decltype(&::gst_analytics_relation_meta_add_oriented_od_mtd)
      gst_analytics_relation_meta_add_oriented_od_mtd;
  decltype(&::gst_analytics_relation_meta_add_segmentation_mtd)
      gst_analytics_relation_meta_add_segmentation_mtd;
  decltype(&::gst_analytics_relation_meta_add_tracking_mtd)
      gst_analytics_relation_meta_add_tracking_mtd;
  decltype(&::gst_analytics_relation_meta_get_direct_related)
      gst_analytics_relation_meta_get_direct_related;
  decltype(&::gst_analytics_relation_meta_get_mtd_data) gst_analytics_relation_meta_get_mtd_data;
  decltype(&::gst_analytics_relation_meta_get_od_mtd) gst_analytics_relation_meta_get_od_mtd;
  decltype(&::gst_analytics_relation_meta_get_relation) gst_analytics_relation_meta_get_relation;
  decltype(&::gst_analytics_relation_meta_iterate) gst_analytics_relation_meta_iterate;
#if GST_CHECK_VERSION(1, 28, 0)
  decltype(&::gst_analytics_relation_meta_add_tensor_mtd_simple)
      gst_analytics_relation_meta_add_tensor_mtd_simple;
#endif
  decltype(&::gst_analytics_relation_meta_set_relation) gst_analytics_relation_meta_set_relation;
  decltype(&::gst_analytics_segmentation_mtd_get_mask) gst_analytics_segmentation_mtd_get_mask;
  decltype(&::gst_analytics_segmentation_mtd_get_mtd_type)
      gst_analytics_segmentation_mtd_get_mtd_type;
  decltype(&::gst_analytics_segmentation_mtd_get_region_count)
      gst_analytics_segmentation_mtd_get_region_count;
  decltype(&::gst_analytics_segmentation_mtd_get_region_id)
      gst_analytics_segmentation_mtd_get_region_id;
  decltype(&::gst_analytics_tracking_mtd_get_info) gst_analytics_tracking_mtd_get_info;
  decltype(&::gst_analytics_tracking_mtd_get_mtd_type) gst_analytics_tracking_mtd_get_mtd_type;
  decltype(&::gst_buffer_add_analytics_relation_meta) gst_buffer_add_analytics_relation_meta;
  decltype(&::gst_buffer_add_tensor_meta) gst_buffer_add_tensor_meta;
  decltype(&::gst_buffer_get_analytics_relation_meta) gst_buffer_get_analytics_relation_meta;
  decltype(&::gst_tensor_meta_set) gst_tensor_meta_set;
  decltype(&::gst_tensor_new_simple) gst_tensor_new_simple;
};

/// The library, loaded at the first call. Only where has_analytics() is true.
const AnalyticsLibrary& analytics();

}  // namespace het::gst
