#include "gstheterometapublishbase.h"

#include <memory>
#include <string>

#include "gst/measuring/element_error.h"
#include "gst/messages/broker_plugin.h"
#include "gst/messages/file.h"
#include "gst/messages/json_meta.h"
#include "gst/messages/mqtt_config.h"

enum {
  kPropMethod = 1,
  kPropFilePath,
  kPropFileFormat,
  kPropAddress,
  kPropTopic,
  kPropClientId,
  kPropUsername,
  kPropPassword,
  kPropCaFile,
  kPropCertFile,
  kPropKeyFile,
  kPropQos,
  kPropConnectAttempts,
  kPropReconnectInterval,
  kPropQueueSize,
  kPropDropOldest,
  kPropDrainTimeout,
  kPropMqttConfig,
  kPropSignalHandoffs,
  kPropStats
};
enum { kMethodFile, kMethodStdout, kMethodMqtt, kMethodKafka };

static guint handoff_signal = 0;

static constexpr char kStdout[] = "stdout";

struct MetaPublishSettings {
  int method = kMethodFile;
  std::string file_path = kStdout;
  int file_format = static_cast<int>(het::gst::MessageFileFormat::Json);
  het::gst::BrokerSettings broker;
  std::string mqtt_config;
  bool signal_handoffs = false;
};

/// Lives from start to stop.
struct MetaPublishState {
  /// Replaced with the object lock held; used without it only while streaming.
  std::shared_ptr<het::gst::MessageSink> sink;
  het::gst::MessageCounts counts;  ///< of the sink before, protected by the object lock
};

G_DEFINE_ABSTRACT_TYPE(GstHeteroMetaPublishBase, gst_hetero_meta_publish_base,
                       GST_TYPE_BASE_TRANSFORM)
static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);

static GType method_type() {
  static const GEnumValue values[] = {{kMethodFile, "The file of file-path", "file"},
                                      {kMethodStdout, "Standard output", "stdout"},
                                      {kMethodMqtt, "The MQTT broker at address", "mqtt"},
                                      {kMethodKafka, "The Kafka brokers at address", "kafka"},
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

static std::string* text_setting(MetaPublishSettings& settings, guint id) {
  switch (id) {
    case kPropFilePath:
      return &settings.file_path;
    case kPropAddress:
      return &settings.broker.address;
    case kPropTopic:
      return &settings.broker.topic;
    case kPropClientId:
      return &settings.broker.client_id;
    case kPropUsername:
      return &settings.broker.username;
    case kPropPassword:
      return &settings.broker.password;
    case kPropCaFile:
      return &settings.broker.ca_file;
    case kPropCertFile:
      return &settings.broker.cert_file;
    case kPropKeyFile:
      return &settings.broker.key_file;
    case kPropMqttConfig:
      return &settings.mqtt_config;
    default:
      return nullptr;
  }
}

static unsigned* number_setting(MetaPublishSettings& settings, guint id) {
  switch (id) {
    case kPropConnectAttempts:
      return &settings.broker.connect_attempts;
    case kPropReconnectInterval:
      return &settings.broker.reconnect_interval_s;
    case kPropQueueSize:
      return &settings.broker.queue_size;
    case kPropDrainTimeout:
      return &settings.broker.drain_timeout_ms;
    default:
      return nullptr;
  }
}

static void set_sink(GstHeteroMetaPublishBase* self, std::shared_ptr<het::gst::MessageSink> sink) {
  GST_OBJECT_LOCK(self);
  self->state->sink.swap(sink);
  self->state->counts = {};
  GST_OBJECT_UNLOCK(self);
  // The old one drains here, without the lock.
  if (!sink) return;
  const het::gst::MessageCounts counts = sink->close();
  GST_OBJECT_LOCK(self);
  if (!self->state->sink) self->state->counts = counts;
  GST_OBJECT_UNLOCK(self);
}

static std::shared_ptr<het::gst::MessageSink> current_sink(GstHeteroMetaPublishBase* self) {
  GST_OBJECT_LOCK(self);
  auto sink = self->state->sink;
  GST_OBJECT_UNLOCK(self);
  return sink;
}

static gboolean start_broker(GstHeteroMetaPublishBase* self, MetaPublishSettings settings) {
  const auto kind =
      settings.method == kMethodKafka ? het::gst::BrokerKind::Kafka : het::gst::BrokerKind::Mqtt;
  if (kind == het::gst::BrokerKind::Mqtt && !settings.mqtt_config.empty()) {
    const het::Status read = het::gst::read_mqtt_config(settings.mqtt_config, settings.broker);
    if (!read.ok()) {
      het::gst::post_error(GST_ELEMENT(self), read);
      return FALSE;
    }
  }
  auto sink = het::gst::connect_broker(kind, settings.broker, [self](const het::Status& status) {
    GST_ELEMENT_WARNING(self, RESOURCE, WRITE, ("%s", status.message().c_str()), (nullptr));
  });
  if (!sink) {
    het::gst::post_error(GST_ELEMENT(self), sink.error());
    return FALSE;
  }
  set_sink(self, std::move(*sink));
  return TRUE;
}

static gboolean gst_hetero_meta_publish_base_start(GstBaseTransform* base) {
  auto* self = GST_HETERO_META_PUBLISH_BASE(base);
  GST_OBJECT_LOCK(self);
  MetaPublishSettings settings = *self->settings;
  GST_OBJECT_UNLOCK(self);
  const auto* klass = reinterpret_cast<GstHeteroMetaPublishBaseClass*>(G_OBJECT_GET_CLASS(self));
  if (klass->target == PublishTarget::Mqtt) settings.method = kMethodMqtt;
  if (klass->target == PublishTarget::Kafka) settings.method = kMethodKafka;
  if (settings.signal_handoffs) return TRUE;  // nothing is published
  if (settings.method == kMethodMqtt || settings.method == kMethodKafka) {
    return start_broker(self, settings);
  }
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
  set_sink(self, std::move(*file));
  return TRUE;
}

static gboolean gst_hetero_meta_publish_base_stop(GstBaseTransform* base) {
  set_sink(GST_HETERO_META_PUBLISH_BASE(base), nullptr);
  return TRUE;
}

static GstStateChangeReturn gst_hetero_meta_publish_base_change_state(GstElement* element,
                                                                      GstStateChange change) {
  if (change == GST_STATE_CHANGE_PAUSED_TO_READY) {
    // A frame that waits for the broker would hold up the pads' deactivation.
    if (const auto sink = current_sink(GST_HETERO_META_PUBLISH_BASE(element))) sink->interrupt();
  }
  return GST_ELEMENT_CLASS(gst_hetero_meta_publish_base_parent_class)
      ->change_state(element, change);
}

static GstFlowReturn gst_hetero_meta_publish_base_transform_ip(GstBaseTransform* base,
                                                               GstBuffer* buffer) {
  auto* self = GST_HETERO_META_PUBLISH_BASE(base);
  const auto sink = current_sink(self);
  if (!sink) {
    g_signal_emit(self, handoff_signal, 0, buffer);
    return GST_FLOW_OK;
  }
  for (const std::string& message : het::gst::json_messages(buffer)) {
    const het::Status status = sink->write(message);
    if (status.ok()) continue;
    if (status.code() == het::StatusCode::Cancelled) return GST_FLOW_FLUSHING;
    het::gst::post_error(GST_ELEMENT(self), status);
    return GST_FLOW_ERROR;
  }
  return GST_FLOW_OK;
}

static void gst_hetero_meta_publish_base_set_property(GObject* object, guint id,
                                                      const GValue* value, GParamSpec* spec) {
  auto* self = GST_HETERO_META_PUBLISH_BASE(object);
  GST_OBJECT_LOCK(self);
  switch (id) {
    case kPropMethod:
      self->settings->method = g_value_get_enum(value);
      break;
    case kPropFileFormat:
      self->settings->file_format = g_value_get_enum(value);
      break;
    case kPropQos:
      self->settings->broker.qos = g_value_get_int(value);
      break;
    case kPropDropOldest:
      self->settings->broker.drop_oldest = g_value_get_boolean(value);
      break;
    case kPropSignalHandoffs:
      self->settings->signal_handoffs = g_value_get_boolean(value);
      break;
    default:
      if (std::string* text = text_setting(*self->settings, id)) {
        const char* given = g_value_get_string(value);
        *text = given ? given : "";
        break;
      }
      if (unsigned* number = number_setting(*self->settings, id)) {
        *number = g_value_get_uint(value);
        break;
      }
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_meta_publish_base_get_property(GObject* object, guint id, GValue* value,
                                                      GParamSpec* spec) {
  auto* self = GST_HETERO_META_PUBLISH_BASE(object);
  // A sink posts warnings, which takes the object lock, while its own lock is held: the counts are
  // asked for before.
  const auto sink = id == kPropStats ? current_sink(self) : nullptr;
  het::gst::MessageCounts counts;
  if (sink) counts = sink->counts();
  GST_OBJECT_LOCK(self);
  if (!sink) counts = self->state->counts;
  switch (id) {
    case kPropMethod:
      g_value_set_enum(value, self->settings->method);
      break;
    case kPropFileFormat:
      g_value_set_enum(value, self->settings->file_format);
      break;
    case kPropQos:
      g_value_set_int(value, self->settings->broker.qos);
      break;
    case kPropDropOldest:
      g_value_set_boolean(value, self->settings->broker.drop_oldest);
      break;
    case kPropSignalHandoffs:
      g_value_set_boolean(value, self->settings->signal_handoffs);
      break;
    case kPropStats:
      g_value_take_boxed(
          value,
          gst_structure_new("stats", "written", G_TYPE_UINT64, counts.written, "delivered",
                            G_TYPE_UINT64, counts.delivered, "dropped", G_TYPE_UINT64,
                            counts.dropped, "waiting", G_TYPE_UINT64, counts.waiting, nullptr));
      break;
    default:
      if (const std::string* text = text_setting(*self->settings, id)) {
        g_value_set_string(value, text->c_str());
        break;
      }
      if (const unsigned* number = number_setting(*self->settings, id)) {
        g_value_set_uint(value, *number);
        break;
      }
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  GST_OBJECT_UNLOCK(self);
}

static void gst_hetero_meta_publish_base_finalize(GObject* object) {
  auto* self = GST_HETERO_META_PUBLISH_BASE(object);
  delete self->state;
  delete self->settings;
  G_OBJECT_CLASS(gst_hetero_meta_publish_base_parent_class)->finalize(object);
}

static constexpr GParamFlags kPublishFlags =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);

static void install_text(GObjectClass* klass, guint id, const char* name, const char* blurb) {
  g_object_class_install_property(klass, id,
                                  g_param_spec_string(name, name, blurb, "", kPublishFlags));
}

static void install_number(GObjectClass* klass, guint id, const char* name, const char* blurb,
                           guint low, guint high, guint normal) {
  g_object_class_install_property(
      klass, id, g_param_spec_uint(name, name, blurb, low, high, normal, kPublishFlags));
}

static void install_file_properties(GObjectClass* klass) {
  g_object_class_install_property(
      klass, kPropFilePath,
      g_param_spec_string("file-path", "File path",
                          "Path of the file, whose content is replaced, or of a FIFO; stdout = "
                          "standard output",
                          kStdout, kPublishFlags));
  g_object_class_install_property(
      klass, kPropFileFormat,
      g_param_spec_enum("file-format", "File format", "How messages follow each other",
                        file_format_type(), static_cast<int>(het::gst::MessageFileFormat::Json),
                        kPublishFlags));
}

static void install_broker_properties(GObjectClass* klass, PublishTarget target) {
  const bool kafka = target != PublishTarget::Mqtt;
  const bool mqtt = target != PublishTarget::Kafka;
  install_text(klass, kPropAddress, "address",
               !kafka ? "HOST:PORT of the broker; ssl://HOST:PORT uses TLS"
               : !mqtt
                   ? "HOST:PORT,HOST:PORT of the brokers"
                   : "HOST:PORT of the broker; MQTT: ssl://HOST:PORT uses TLS; Kafka: HOST:PORT,"
                     "HOST:PORT");
  install_text(klass, kPropTopic, "topic", "Topic of the messages");
  install_text(klass, kPropUsername, "username",
               "User at the broker (Kafka: SASL PLAIN); empty = none");
  install_text(klass, kPropPassword, "password", "Password of the user");
  install_text(klass, kPropCaFile, "tls-ca-file",
               "Certificate that the broker's is checked with; uses TLS");
  install_text(klass, kPropCertFile, "tls-cert-file", "Certificate of the client; empty = none");
  install_text(klass, kPropKeyFile, "tls-key-file", "Key of the client's certificate");
  install_number(klass, kPropConnectAttempts, "max-connect-attempts",
                 "Attempts to connect at the start", 1, 10, 1);
  install_number(klass, kPropReconnectInterval, "max-reconnect-interval",
                 "Longest time between attempts to connect, in seconds", 1, 300, 30);
  install_number(klass, kPropQueueSize, "queue-size", "Messages that wait for the broker at most",
                 1, 1000000, 1000);
  install_number(klass, kPropDrainTimeout, "drain-timeout",
                 "How long the end waits for messages to be confirmed, in milliseconds", 0, 600000,
                 5000);
  g_object_class_install_property(
      klass, kPropDropOldest,
      g_param_spec_boolean("drop-oldest", "Drop oldest",
                           "A full queue drops its oldest message; false = frames wait", FALSE,
                           kPublishFlags));
  if (!mqtt) return;
  install_text(klass, kPropClientId, kafka ? "mqtt-client-id" : "client-id",
               "Name of the client; empty = one is made");
  install_text(klass, kPropMqttConfig, "mqtt-config",
               "Path of a JSON file with address, topic, TLS and the like, in gvametapublish's "
               "form, which win over the properties");
  g_object_class_install_property(
      klass, kPropQos,
      g_param_spec_int("mqtt-qos", "MQTT QoS",
                       "0 = sent once, may be lost; 1 = arrives, perhaps twice; 2 = arrives once",
                       0, 2, 1, kPublishFlags));
}

void gst_hetero_meta_publish_base_class_install(GstHeteroMetaPublishBaseClass* klass,
                                                PublishTarget target) {
  auto* object_class = G_OBJECT_CLASS(klass);
  // GObject does not inherit these two.
  object_class->set_property = gst_hetero_meta_publish_base_set_property;
  object_class->get_property = gst_hetero_meta_publish_base_get_property;
  klass->target = target;
  const bool any = target == PublishTarget::Any;
  if (any) {
    g_object_class_install_property(object_class, kPropMethod,
                                    g_param_spec_enum("method", "Method", "Where messages go",
                                                      method_type(), kMethodFile, kPublishFlags));
  }
  if (any || target == PublishTarget::File) install_file_properties(object_class);
  if (target != PublishTarget::File) install_broker_properties(object_class, target);
  g_object_class_install_property(
      object_class, kPropSignalHandoffs,
      g_param_spec_boolean("signal-handoffs", "Signal handoffs",
                           "Emit the signal handoff for each frame instead of publishing", FALSE,
                           kPublishFlags));
  g_object_class_install_property(
      object_class, kPropStats,
      g_param_spec_boxed("stats", "Statistics", "Messages written, delivered, dropped and waiting",
                         GST_TYPE_STRUCTURE,
                         static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
}

static void gst_hetero_meta_publish_base_class_init(GstHeteroMetaPublishBaseClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = gst_hetero_meta_publish_base_finalize;
  handoff_signal =
      g_signal_new("handoff", G_TYPE_FROM_CLASS(klass), G_SIGNAL_RUN_LAST, 0, nullptr, nullptr,
                   nullptr, G_TYPE_NONE, 1, GST_TYPE_BUFFER | G_SIGNAL_TYPE_STATIC_SCOPE);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = gst_hetero_meta_publish_base_change_state;
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  base_class->start = gst_hetero_meta_publish_base_start;
  base_class->stop = gst_hetero_meta_publish_base_stop;
  base_class->transform_ip = gst_hetero_meta_publish_base_transform_ip;
  base_class->transform_ip_on_passthrough = TRUE;
}

static void gst_hetero_meta_publish_base_init(GstHeteroMetaPublishBase* self) {
  self->settings = new MetaPublishSettings();
  self->state = new MetaPublishState();
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(self), TRUE);
}
