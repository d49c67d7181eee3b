#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_META_CONVERT (gst_hetero_meta_convert_get_type())
GType gst_hetero_meta_convert_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterometaconvert)

G_END_DECLS
