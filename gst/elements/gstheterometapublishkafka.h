#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_META_PUBLISH_KAFKA (gst_hetero_meta_publish_kafka_get_type())
GType gst_hetero_meta_publish_kafka_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterometapublishkafka)

G_END_DECLS
