/**
 * SECTION:element-heterometapublishmqtt
 * @title: heterometapublishmqtt
 * @short_description: sends the JSON messages of frames to an MQTT broker
 *
 * heterometapublish method=mqtt as an element of its own, as gvametapublishmqtt. Sends the messages
 * that heterometaconvert attached to the topic of the broker at #address. Frames pass unchanged.
 * Needs the plugin heterobrokers.
 *
 * ## Example
 * Without signal-handoffs and with a broker: heterometapublishmqtt address=localhost:1883
 * topic=frames.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterometaconvert add-empty-results=true ! heterometapublishmqtt signal-handoffs=true !
 * fakesink
 * ]|
 */
#include "gstheterometapublishmqtt.h"

#include "gstheterometapublishbase.h"

struct GstHeteroMetaPublishMqtt {
  GstHeteroMetaPublishBase parent;
};

struct GstHeteroMetaPublishMqttClass {
  GstHeteroMetaPublishBaseClass parent_class;
};

G_DEFINE_TYPE(GstHeteroMetaPublishMqtt, gst_hetero_meta_publish_mqtt,
              GST_TYPE_HETERO_META_PUBLISH_BASE)
GST_ELEMENT_REGISTER_DEFINE(heterometapublishmqtt, "heterometapublishmqtt", GST_RANK_NONE,
                            GST_TYPE_HETERO_META_PUBLISH_MQTT)

static void gst_hetero_meta_publish_mqtt_class_init(GstHeteroMetaPublishMqttClass* klass) {
  gst_hetero_meta_publish_base_class_install(&klass->parent_class, PublishTarget::Mqtt);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Publish results by MQTT",
                                        "Filter/Metadata", "Sends JSON messages to an MQTT broker",
                                        "gst-hetero maintainers");
}

static void gst_hetero_meta_publish_mqtt_init(GstHeteroMetaPublishMqtt*) {}
