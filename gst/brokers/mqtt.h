#pragma once

#include <functional>
#include <memory>

#include "gst/messages/broker_settings.h"
#include "gst/messages/sink.h"

namespace het::gst {

/// Connects and signs in; fails with NotFound when no broker answers, InvalidArgument for what the
/// broker refuses. Later losses of the connection are reported once each through `warn`, from any
/// thread, and repaired with growing pauses; with qos 1 or 2 what was not confirmed is sent again.
Result<std::unique_ptr<MessageSink>> connect_mqtt(const BrokerSettings& settings,
                                                  std::function<void(const Status&)> warn);

}  // namespace het::gst
