#pragma once

#include <functional>
#include <memory>
#include <string>

#include "message_sink.h"

namespace het::gst {

/// What a user says about a broker.
struct MqttSettings {
  std::string address;  ///< "host:port", "tcp://host:port", "ssl://host:port"
  std::string topic;
  std::string client_id;  ///< empty: one is made
  std::string username;   ///< empty: none
  std::string password;
  std::string ca_file;    ///< of the broker's certificate; turns TLS on
  std::string cert_file;  ///< of the client; empty: none
  std::string key_file;
  int qos = 1;  ///< 0, 1 or 2
  unsigned connect_attempts = 1;
  unsigned reconnect_interval_s = 30;  ///< the longest time between two attempts
  unsigned queue_size = 1000;          ///< messages that wait at most
  bool drop_oldest = false;            ///< when the queue is full; false: write() waits
  unsigned drain_timeout_ms = 5000;    ///< how long the destructor waits for the rest
};

/// Connects and signs in; fails with NotFound when no broker answers, InvalidArgument for what the
/// broker refuses, NotSupported in a build without libmosquitto. Later losses of the connection are
/// reported once each through `warn`, from any thread, and repaired with growing pauses; with
/// qos 1 or 2 what was not confirmed is sent again.
Result<std::unique_ptr<MessageSink>> connect_mqtt(const MqttSettings& settings,
                                                  std::function<void(const Status&)> warn);

}  // namespace het::gst
