#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_ANALYTICS (gst_hetero_analytics_get_type())
GType gst_hetero_analytics_get_type();
GST_ELEMENT_REGISTER_DECLARE(heteroanalytics)

G_END_DECLS
