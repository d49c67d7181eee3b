#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_MOTION_DETECT (gst_hetero_motion_detect_get_type())
GType gst_hetero_motion_detect_get_type();
GST_ELEMENT_REGISTER_DECLARE(heteromotiondetect)

G_END_DECLS
