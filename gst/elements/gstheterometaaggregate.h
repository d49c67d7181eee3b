#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_META_AGGREGATE (gst_hetero_meta_aggregate_get_type())
GType gst_hetero_meta_aggregate_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterometaaggregate)

G_END_DECLS
