#pragma once

#include <functional>
#include <memory>

#include "broker_settings.h"
#include "sink.h"

namespace het::gst {

/// Connects and signs in; `warn` hears of later losses, from any thread.
using ConnectBroker = Result<std::unique_ptr<MessageSink>>(const BrokerSettings& settings,
                                                           std::function<void(const Status&)> warn);

/// What the plugin heterobrokers leaves with its GstPlugin, for the plugin hetero. Both are built
/// from the same sources; of another version only `version` may be read.
struct BrokerTable {
  const char* version;           ///< of gst-hetero; the first member in every version
  ConnectBroker* connect_mqtt;   ///< nullptr in a build without libmosquitto
  ConnectBroker* connect_kafka;  ///< nullptr in a build without librdkafka
};

/// The name of the table among the data of the GObject.
inline constexpr char kBrokerTable[] = "hetero-broker-table";

}  // namespace het::gst
