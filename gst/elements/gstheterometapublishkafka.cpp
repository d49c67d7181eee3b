/**
 * SECTION:element-heterometapublishkafka
 * @title: heterometapublishkafka
 * @short_description: sends the JSON messages of frames to a Kafka broker
 *
 * heterometapublish method=kafka as an element of its own, as gvametapublishkafka. Sends the
 * messages that heterometaconvert attached to the topic of the brokers at #address. Frames pass
 * unchanged. Needs the plugin heterobrokers.
 *
 * ## Example
 * Without signal-handoffs and with a broker: heterometapublishkafka address=localhost:9092
 * topic=frames.
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterometaconvert add-empty-results=true ! heterometapublishkafka signal-handoffs=true !
 * fakesink
 * ]|
 */
#include "gstheterometapublishkafka.h"

#include "gstheterometapublishbase.h"

struct GstHeteroMetaPublishKafka {
  GstHeteroMetaPublishBase parent;
};

struct GstHeteroMetaPublishKafkaClass {
  GstHeteroMetaPublishBaseClass parent_class;
};

G_DEFINE_TYPE(GstHeteroMetaPublishKafka, gst_hetero_meta_publish_kafka,
              GST_TYPE_HETERO_META_PUBLISH_BASE)
GST_ELEMENT_REGISTER_DEFINE(heterometapublishkafka, "heterometapublishkafka", GST_RANK_NONE,
                            GST_TYPE_HETERO_META_PUBLISH_KAFKA)

static void gst_hetero_meta_publish_kafka_class_init(GstHeteroMetaPublishKafkaClass* klass) {
  gst_hetero_meta_publish_base_class_install(&klass->parent_class, PublishTarget::Kafka);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Publish results by Kafka",
                                        "Filter/Metadata", "Sends JSON messages to a Kafka broker",
                                        "gst-hetero maintainers");
}

static void gst_hetero_meta_publish_kafka_init(GstHeteroMetaPublishKafka*) {}
