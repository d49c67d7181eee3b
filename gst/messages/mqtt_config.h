#pragma once

#include <string>

#include "broker_settings.h"
#include "inference/base/status.h"

namespace het::gst {

/// Reads the file of the property mqtt-config, in gvametapublish's form: what it has replaces what
/// `settings` say; null is as if it were not there. The broker's certificate is checked unless the
/// file says 0. Errors name the file and the key.
Status read_mqtt_config(const std::string& path, BrokerSettings& settings);

}  // namespace het::gst
