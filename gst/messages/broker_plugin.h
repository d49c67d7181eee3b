#pragma once

#include <functional>
#include <memory>

#include "broker_settings.h"
#include "sink.h"

namespace het::gst {

enum class BrokerKind { Mqtt, Kafka };

/// Loads the plugin heterobrokers, where GStreamer has found it, and connects as its table says.
/// Fails with NotSupported where the plugin is missing, cannot be loaded, lacks this kind of broker
/// or is of another version; otherwise as `connect_mqtt()` and `connect_kafka()` do.
Result<std::unique_ptr<MessageSink>> connect_broker(BrokerKind kind, const BrokerSettings& settings,
                                                    std::function<void(const Status&)> warn);

}  // namespace het::gst
