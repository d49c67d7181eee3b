#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_INFERENCE (gst_hetero_inference_get_type())
GType gst_hetero_inference_get_type();
GST_ELEMENT_REGISTER_DECLARE(heteroinference)

G_END_DECLS
