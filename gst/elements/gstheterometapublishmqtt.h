#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_TYPE_HETERO_META_PUBLISH_MQTT (gst_hetero_meta_publish_mqtt_get_type())
GType gst_hetero_meta_publish_mqtt_get_type();
GST_ELEMENT_REGISTER_DECLARE(heterometapublishmqtt)

G_END_DECLS
