#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_ATTACH_ROI (gst_hetero_attach_roi_get_type())
GType gst_hetero_attach_roi_get_type();
GST_ELEMENT_REGISTER_DECLARE(heteroattachroi)

G_END_DECLS
