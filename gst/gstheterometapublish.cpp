/**
 * SECTION:element-heterometapublish
 * @title: heterometapublish
 * @short_description: sends the JSON messages of frames to a file or to standard output
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

#include <gst/base/gstbasetransform.h>

#include <memory>
#include <string>

#include "element_error.h"
#include "json_meta.h"
#include "message_file.h"

enum { kPropMethod = 1, kPropFilePath, kPropFileFormat };
enum { kMethodFile, kMethodStdout };

static constexpr char kStdout[] = "stdout";

struct MetaPublishSettings {
  int method = kMethodFile;
  std::string file_path = kStdout;
  int file_format = static_cast<int>(het::gst::MessageFileFormat::Json);
};

/// Lives from start to stop.
struct MetaPublishState {
  std::unique_ptr<het::gst::MessageFile> file;
};

struct GstHeteroMetaPublish {
  GstBaseTransform parent;
  MetaPublishSettings* settings;  ///< protected by the object lock
  MetaPublishState* state;
};

struct GstHeteroMetaPublishClass {
  GstBaseTransformClass parent_class;
};

#define GST_HETERO_META_PUBLISH(object) \
  (G_TYPE_CHECK_INSTANCE_CAST((object), GST_TYPE_HETERO_META_PUBLISH, GstHeteroMetaPublish))

G_DEFINE_TYPE(GstHeteroMetaPublish, gst_hetero_meta_publish, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(heterometapublish, "heterometapublish", GST_RANK_NONE,
                            GST_TYPE_HETERO_META_PUBLISH)

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GType method_type() {
  static const GEnumValue values[] = {{kMethodFile, "The file of file-path", "file"},
                                      {kMethodStdout, "Standard output", "stdout"},
                                      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroMetaPublishMethod", values);
  return type;
}

static GType file_format_type() {
  using het::gst::MessageFileFormat;
  static const GEnumValue values[] = {
      {static_cast<int>(MessageFileFormat::Json), "One JSON array", "json"},
      {static_cast<int>(MessageFileFormat::JsonLines), "One message per line", "json-lines"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("GstHeteroMetaPublishFileFormat", values);
  return type;
}

static gboolean gst_hetero_meta_publish_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_META_PUBLISH(base);
  GST_OBJECT_LOCK(self);
  const MetaPublishSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  const bool to_stdout = settings.method == kMethodStdout || settings.file_path == kStdout;
  auto file =
      het::gst::MessageFile::open(to_stdout ? "" : settings.file_path,
                                  static_cast<het::gst::MessageFileFormat>(settings.file_format));
  if (!to_stdout && settings.file_path.empty()) {
    file = het::error(het::StatusCode::InvalidArgument,
                      "file-path is empty; set it to the path of a file, or to stdout");
  }
  if (!file) {
    het::gst::post_error(GST_ELEMENT(self), file.error());
    return FALSE;
  }
  self->state->file = std::move(*file);
  return TRUE;
}

static gboolean gst_hetero_meta_publish_stop(GstBaseTransform* base) {
  GST_HETERO_META_PUBLISH(base)->state->file.reset();
  return TRUE;
}

static GstFlowReturn gst_hetero_meta_publish_transform_ip(GstBaseTransform* base,
                                                          GstBuffer* buffer) {
  auto* self = GST_HETERO_META_PUBLISH(base);
  for (const std::string& message : het::gst::json_messages(buffer)) {
    const het::Status status = self->state->file->write(message);
    if (status.ok()) continue;
    het::gst::post_error(GST_ELEMENT(self), status);
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

static void gst_hetero_meta_publish_set_property(GObject* object, guint id, const GValue* value,
                                                 GParamSpec* spec) {
  auto* self = GST_HETERO_META_PUBLISH(object);
  GST_OBJECT_LOCK(self);
  switch (id) {
    case kPropMethod:
      self->settings->method = g_value_get_enum(value);
      break;
    case kPropFilePath: {
      const char* path = g_value_get_string(value);
      self->settings->file_path = path ? path : "";
      break;
    }
    case kPropFileFormat:
      self->settings->file_format = g_value_get_enum(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_meta_publish_get_property(GObject* object, guint id, GValue* value,
                                                 GParamSpec* spec) {
  auto* self = GST_HETERO_META_PUBLISH(object);
  GST_OBJECT_LOCK(self);
  switch (id) {
    case kPropMethod:
      g_value_set_enum(value, self->settings->method);
      break;
    case kPropFilePath:
      g_value_set_string(value, self->settings->file_path.c_str());
      break;
    case kPropFileFormat:
      g_value_set_enum(value, self->settings->file_format);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_meta_publish_finalize(GObject* object) {
  auto* self = GST_HETERO_META_PUBLISH(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_meta_publish_parent_class)->finalize(object);
}

static void gst_hetero_meta_publish_class_init(GstHeteroMetaPublishClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = gst_hetero_meta_publish_set_property;
  object_class->get_property = gst_hetero_meta_publish_get_property;
  object_class->finalize = gst_hetero_meta_publish_finalize;
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(object_class, kPropMethod,
                                  g_param_spec_enum("method", "Method", "Where messages go",
                                                    method_type(), kMethodFile, flags));
  g_object_class_install_property(
      object_class, kPropFilePath,
      g_param_spec_string("file-path", "File path",
                          "Path of the file, whose content is replaced, or of a FIFO; stdout = "
                          "standard output",
                          kStdout, flags));
  g_object_class_install_property(
      object_class, kPropFileFormat,
      g_param_spec_enum("file-format", "File format", "How messages follow each other",
                        file_format_type(), static_cast<int>(het::gst::MessageFileFormat::Json),
                        flags));
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, "Publish results", "Filter/Metadata",
                                        "Sends JSON messages to a file or to standard output",
                                        "gst-hetero maintainers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  base_class->start = gst_hetero_meta_publish_start;
  base_class->stop = gst_hetero_meta_publish_stop;
  base_class->transform_ip = gst_hetero_meta_publish_transform_ip;
  base_class->transform_ip_on_passthrough = TRUE;
}

static void gst_hetero_meta_publish_init(GstHeteroMetaPublish* self) {
  self->settings = new MetaPublishSettings();
  self->state = new MetaPublishState();
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}
