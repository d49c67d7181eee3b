#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_FPS_COUNTER (gst_hetero_fps_counter_get_type())
GType gst_hetero_fps_counter_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterofpscounter)

G_END_DECLS
