#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_PYTHON (gst_hetero_python_get_type())
GType gst_hetero_python_get_type();
GST_ELEMENT_REGISTER_DECLARE(heteropython)

G_END_DECLS
