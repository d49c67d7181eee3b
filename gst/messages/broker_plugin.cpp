#include "broker_plugin.h"

#include <gst/gst.h>

#include <cstring>
#include <string>

#include "broker_table.h"

namespace het::gst {
namespace {

constexpr char kBrokerFile[] = "libgstheterobrokers.so";

/// The table of the plugin in this file. GStreamer never unloads a plugin, so that the table and
/// what it points at stay.
Result<const BrokerTable*> load_table(const char* file, const char* method) {
  GError* problem = nullptr;
  GstPlugin* plugin = gst_plugin_load_file(file, &problem);
  if (!plugin) {
    const Status status =
        error(StatusCode::NotSupported, "method={} needs the plugin {}, which does not load: {}",
              method, file, problem->message);
    g_error_free(problem);
    return Failure(status);
  }
  const auto* table =
      static_cast<const BrokerTable*>(g_object_get_data(G_OBJECT(plugin), kBrokerTable));
  const std::string version = table ? table->version : gst_plugin_get_version(plugin);
  gst_object_unref(plugin);
  if (!table || version != HET_GST_VERSION) {
    return error(
        StatusCode::NotSupported,
        "method={} needs the plugin heterobrokers of version {}, as the plugin hetero has it; "
        "{} has version {}: install both in one version",
        method, HET_GST_VERSION, file, version);
  }
  return table;
}

}  // namespace

Result<std::unique_ptr<MessageSink>> connect_broker(BrokerKind kind, const BrokerSettings& settings,
                                                    std::function<void(const Status&)> warn) {
  const bool is_mqtt = kind == BrokerKind::Mqtt;
  const char* const method = is_mqtt ? "mqtt" : "kafka";
  // By its file: of a plugin that GStreamer could not load once it knows nothing else.
  GstPlugin* known = gst_registry_lookup(gst_registry_get(), kBrokerFile);
  if (!known) {
    return error(StatusCode::NotSupported,
                 "method={} needs the plugin heterobrokers: install the package "
                 "gstreamer1.0-hetero-brokers, or build with -D{}=enabled",
                 method, method);
  }
  const std::string file = gst_plugin_get_filename(known);
  gst_object_unref(known);
  HET_ASSIGN(const BrokerTable* table, load_table(file.c_str(), method));
  ConnectBroker* const connect = is_mqtt ? table->connect_mqtt : table->connect_kafka;
  if (!connect) {
    return error(StatusCode::NotSupported,
                 "method={} needs {}, which the plugin {} was built without: build with "
                 "-D{}=enabled",
                 method, is_mqtt ? "libmosquitto" : "librdkafka", file, method);
  }
  return connect(settings, std::move(warn));
}

}  // namespace het::gst
