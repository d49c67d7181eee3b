#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_CLASSIFY (gst_hetero_classify_get_type())
GType gst_hetero_classify_get_type();
GST_ELEMENT_REGISTER_DECLARE(heteroclassify)

G_END_DECLS
