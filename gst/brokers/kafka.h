#pragma once

#include <functional>
#include <memory>

#include "gst/messages/broker_settings.h"
#include "gst/messages/sink.h"

namespace het::gst {

/// Asks a broker for the topic; fails with NotFound when none answers, InvalidArgument for what the
/// brokers refuse. Messages are sent by an idempotent producer: each arrives once, those of one
/// partition in their order. Later losses of all brokers are reported once each through `warn`,
/// from any thread, and repaired with growing pauses; messages that the brokers refuse for good are
/// reported and counted as dropped.
Result<std::unique_ptr<MessageSink>> connect_kafka(const BrokerSettings& settings,
                                                   std::function<void(const Status&)> warn);

}  // namespace het::gst
