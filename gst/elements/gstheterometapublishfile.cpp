/**
 * SECTION:element-heterometapublishfile
 * @title: heterometapublishfile
 * @short_description: sends the JSON messages of frames to a file or to standard output
 *
 * heterometapublish method=file as an element of its own, as gvametapublishfile. Writes the
 * messages that heterometaconvert attached. Frames pass unchanged.
 *
 * ## Example
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=30 ! video/x-raw,width=640,height=360 ! \
 *   heterometaconvert add-empty-results=true ! heterometapublishfile \
 *   file-path=/dev/null file-format=json-lines ! fakesink
 * ]|
 */
#include "gstheterometapublishfile.h"

#include "gstheterometapublishbase.h"

struct GstHeteroMetaPublishFile {
  GstHeteroMetaPublishBase parent;
};

struct GstHeteroMetaPublishFileClass {
  GstHeteroMetaPublishBaseClass parent_class;
};

G_DEFINE_TYPE(GstHeteroMetaPublishFile, gst_hetero_meta_publish_file,
              GST_TYPE_HETERO_META_PUBLISH_BASE)
GST_ELEMENT_REGISTER_DEFINE(heterometapublishfile, "heterometapublishfile", GST_RANK_NONE,
                            GST_TYPE_HETERO_META_PUBLISH_FILE)

static void gst_hetero_meta_publish_file_class_init(GstHeteroMetaPublishFileClass* klass) {
  gst_hetero_meta_publish_base_class_install(&klass->parent_class, PublishTarget::File);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Publish results to a file", "Filter/Metadata",
      "Sends JSON messages to a file, a FIFO or standard output", "gst-hetero maintainers");
}

static void gst_hetero_meta_publish_file_init(GstHeteroMetaPublishFile*) {}
