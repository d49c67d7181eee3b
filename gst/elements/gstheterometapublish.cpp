/**
 * SECTION:element-heterometapublish
 * @title: heterometapublish
 * @short_description: sends the JSON messages of frames to a file, to standard output, to an MQTT
 * or to a Kafka broker
 *
 * Writes the messages that heterometaconvert attached. Frames pass unchanged.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterometaconvert add-empty-results=true ! heterometapublish \
 *   file-format=json-lines ! fakesink
 * ]|
 */
#include "gstheterometapublish.h"

#include "gstheterometapublishbase.h"

struct GstHeteroMetaPublish {
  GstHeteroMetaPublishBase parent;
};

struct GstHeteroMetaPublishClass {
  GstHeteroMetaPublishBaseClass parent_class;
};

G_DEFINE_TYPE(GstHeteroMetaPublish, gst_hetero_meta_publish, GST_TYPE_HETERO_META_PUBLISH_BASE)
GST_ELEMENT_REGISTER_DEFINE(heterometapublish, "heterometapublish", GST_RANK_NONE,
                            GST_TYPE_HETERO_META_PUBLISH)

static void gst_hetero_meta_publish_class_init(GstHeteroMetaPublishClass* klass) {
  gst_hetero_meta_publish_base_class_install(&klass->parent_class, PublishTarget::Any);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Publish results", "Filter/Metadata",
      "Sends JSON messages to a file, to standard output, to an MQTT or to a Kafka broker",
      "gst-hetero maintainers");
}

static void gst_hetero_meta_publish_init(GstHeteroMetaPublish*) {}
