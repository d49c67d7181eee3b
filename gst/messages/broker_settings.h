#pragma once

#include <string>

namespace het::gst {

/// What a user says about a message broker.
struct BrokerSettings {
  /// MQTT: "host:port", "tcp://host:port", "ssl://host:port". Kafka: "host:port[,host:port]".
  std::string address;
  std::string topic;
  std::string client_id;  ///< empty: one is made
  std::string username;   ///< empty: none
  std::string password;
  std::string ca_file;    ///< of the broker's certificate; turns TLS on
  std::string cert_file;  ///< of the client; empty: none
  std::string key_file;
  std::string key_password;        ///< MQTT: of an encrypted key_file; empty: none
  bool tls = false;                ///< MQTT: also where neither address nor ca_file say so
  bool checks_certificate = true;  ///< MQTT: the broker's has to come from a known authority
  bool checks_host = true;         ///< MQTT: and to name the host of address
  int qos = 1;                     ///< of MQTT: 0, 1 or 2
  unsigned connect_attempts = 1;
  unsigned reconnect_interval_s = 30;  ///< the longest time between two attempts
  unsigned queue_size = 1000;          ///< messages that wait at most
  bool drop_oldest = false;            ///< when the queue is full; false: write() waits
  unsigned drain_timeout_ms = 5000;    ///< how long the destructor waits for the rest
};

}  // namespace het::gst
