/// The entry of the plugin heterobrokers. It has no elements: the plugin hetero loads it when
/// messages go to a broker, so that nobody else needs the brokers' libraries.

#include <gst/gst.h>

#include "gst/messages/broker_table.h"
#ifdef HET_MQTT
#include "mqtt.h"
#endif
#ifdef HET_KAFKA
#include "kafka.h"
#endif

static gboolean plugin_init(GstPlugin* plugin) {
  static het::gst::BrokerTable table = {HET_GST_VERSION, nullptr, nullptr};
#ifdef HET_MQTT
  table.connect_mqtt = het::gst::connect_mqtt;
#endif
#ifdef HET_KAFKA
  table.connect_kafka = het::gst::connect_kafka;
#endif
  g_object_set_data(G_OBJECT(plugin), het::gst::kBrokerTable, &table);
  return TRUE;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, heterobrokers,
                  "Connects heterometapublish to MQTT and Kafka brokers", plugin_init,
                  HET_GST_VERSION, "MIT/X11", GST_PACKAGE_NAME, GST_PACKAGE_ORIGIN)
