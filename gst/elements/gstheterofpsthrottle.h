#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_FPS_THROTTLE (gst_hetero_fps_throttle_get_type())
GType gst_hetero_fps_throttle_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterofpsthrottle)

G_END_DECLS
