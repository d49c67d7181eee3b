#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_META_PUBLISH_FILE (gst_hetero_meta_publish_file_get_type())
GType gst_hetero_meta_publish_file_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterometapublishfile)

G_END_DECLS
