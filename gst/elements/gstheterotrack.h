#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_TRACK (gst_hetero_track_get_type())
GType gst_hetero_track_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterotrack)

G_END_DECLS
