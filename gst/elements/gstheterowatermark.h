#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_WATERMARK (gst_hetero_watermark_get_type())
GType gst_hetero_watermark_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterowatermark)

G_END_DECLS
