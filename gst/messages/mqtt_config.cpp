#include "mqtt_config.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>

namespace het::gst {
namespace {

constexpr std::streamsize kMaxConfigBytes = 1 << 20;
constexpr std::string_view kConfigKeys =
    "address, client-id, topic, username, password, max-connect-attempts, max-reconnect-interval, "
    "TLS, ssl_verify, ssl_enable_server_cert_auth, ssl_CA_certificate, ssl_client_certificate, "
    "ssl_private_key and ssl_private_key_pwd";

std::string* text_of_key(BrokerSettings& settings, std::string_view key) {
  if (key == "address") return &settings.address;
  if (key == "client-id") return &settings.client_id;
  if (key == "topic") return &settings.topic;
  if (key == "username") return &settings.username;
  if (key == "password") return &settings.password;
  if (key == "ssl_CA_certificate") return &settings.ca_file;
  if (key == "ssl_client_certificate") return &settings.cert_file;
  if (key == "ssl_private_key") return &settings.key_file;
  if (key == "ssl_private_key_pwd") return &settings.key_password;
  return nullptr;
}

Result<int64_t> whole_number(const nlohmann::json& value, int64_t low, int64_t high) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(high)) {
    return error(StatusCode::InvalidArgument, "is {}; a whole number from {} to {} is wanted",
                 value.dump(), low, high);
  }
  if (value.is_number_integer() && value.get<int64_t>() >= low && value.get<int64_t>() <= high)
    return value.get<int64_t>();
  return error(StatusCode::InvalidArgument, "is {}; a whole number from {} to {} is wanted",
               value.dump(), low, high);
}

/// The sentence of a failure begins after the key.
Status take_value(BrokerSettings& settings, std::string_view key, const nlohmann::json& value) {
  if (std::string* text = text_of_key(settings, key)) {
    // Never the value: it may be a password.
    if (!value.is_string())
      return error(StatusCode::InvalidArgument, "is a {}; a string is wanted", value.type_name());
    *text = value.get<std::string>();
  } else if (key == "max-connect-attempts") {
    HET_ASSIGN(const int64_t number, whole_number(value, 1, 10));
    settings.connect_attempts = static_cast<unsigned>(number);
  } else if (key == "max-reconnect-interval") {
    HET_ASSIGN(const int64_t number, whole_number(value, 1, 300));
    settings.reconnect_interval_s = static_cast<unsigned>(number);
  } else if (key == "TLS") {
    if (!value.is_boolean())
      return error(StatusCode::InvalidArgument, "is {}; true or false is wanted", value.dump());
    settings.tls = value.get<bool>();
  } else if (key == "ssl_verify" || key == "ssl_enable_server_cert_auth") {
    HET_ASSIGN(const int64_t number, whole_number(value, 0, std::numeric_limits<int32_t>::max()));
    (key == "ssl_verify" ? settings.checks_host : settings.checks_certificate) = number != 0;
  } else {
    return error(StatusCode::InvalidArgument, "is not known; {} are", kConfigKeys);
  }
  return {};
}

}  // namespace

Status read_mqtt_config(const std::string& path, BrokerSettings& settings) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return error(StatusCode::NotFound,
                 "mqtt-config '{}' cannot be read; give the path of a JSON file", path);
  std::string text(static_cast<size_t>(kMaxConfigBytes) + 1, '\0');
  file.read(text.data(), kMaxConfigBytes + 1);
  if (file.gcount() > kMaxConfigBytes)
    return error(StatusCode::InvalidArgument, "mqtt-config '{}' has more than {} bytes", path,
                 kMaxConfigBytes);
  text.resize(static_cast<size_t>(file.gcount()));
  const nlohmann::json config = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object())
    return error(StatusCode::ParseError, "mqtt-config '{}' holds no JSON object", path);
  for (const auto& [key, value] : config.items()) {
    if (value.is_null()) continue;
    const Status taken = take_value(settings, key, value);
    if (!taken.ok())
      return error(taken.code(), "mqtt-config '{}': \"{}\" {}", path, key, taken.message());
  }
  return {};
}

}  // namespace het::gst
