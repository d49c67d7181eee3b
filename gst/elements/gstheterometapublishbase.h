#pragma once

#include <gst/base/gstbasetransform.h>

/// What the elements that publish messages have in common: settings, sink, states. They differ in
/// the properties that they show and in what they publish to.
#define GST_TYPE_HETERO_META_PUBLISH_BASE (gst_hetero_meta_publish_base_get_type())
#define GST_HETERO_META_PUBLISH_BASE(object)                               \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_META_PUBLISH_BASE, \
                              GstHeteroMetaPublishBase))

/// Where messages go; Any is what the property method says.
enum class PublishTarget { Any, File, Mqtt, Kafka };

struct MetaPublishSettings;
struct MetaPublishState;

struct GstHeteroMetaPublishBase {
  GstBaseTransform parent;
  MetaPublishSettings* settings;  ///< protected by the object lock
  MetaPublishState* state;
};

struct GstHeteroMetaPublishBaseClass {
  GstBaseTransformClass parent_class;
  PublishTarget target;
};

GType gst_hetero_meta_publish_base_get_type();

/// Installs the properties of elements with this target; called from class_init of each.
void gst_hetero_meta_publish_base_class_install(GstHeteroMetaPublishBaseClass* klass,
                                                PublishTarget target);
