#include "mqtt.h"

#include <mosquitto.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "broker_queue.h"
#include "gst/measuring/pipe_errors.h"

namespace het::gst {
namespace {

constexpr size_t kMaxMqttInFlight = 20;
constexpr int kKeepAliveS = 20;
constexpr std::chrono::seconds kSignInLimit{10};

struct Broker {
  std::string host;
  int port = 1883;
  bool tls = false;
};

Result<Broker> parse_address(std::string address, bool tls) {
  Broker broker;
  broker.tls = tls;
  if (const size_t scheme = address.find("://"); scheme != std::string::npos) {
    const std::string name = address.substr(0, scheme);
    if (name != "tcp" && name != "mqtt" && name != "ssl" && name != "mqtts") {
      return error(StatusCode::InvalidArgument,
                   "address has the scheme '{}'; tcp, mqtt, ssl and mqtts are valid", name);
    }
    broker.tls = tls || name == "ssl" || name == "mqtts";
    address.erase(0, scheme + 3);
  }
  if (broker.tls) broker.port = 8883;
  const size_t colon = address.rfind(':');
  broker.host = address.substr(0, colon);
  if (colon != std::string::npos) {
    const char* end = address.data() + address.size();
    const auto [stop, code] = std::from_chars(address.data() + colon + 1, end, broker.port);
    if (code != std::errc() || stop != end || broker.port < 1 || broker.port > 65535) {
      return error(StatusCode::InvalidArgument, "address '{}' has no port from 1 to 65535",
                   address);
    }
  }
  if (broker.host.empty()) {
    return error(StatusCode::InvalidArgument,
                 "address is empty; set it to HOST:PORT of the broker");
  }
  return broker;
}

/// OpenSSL, which libmosquitto writes through, does not keep SIGPIPE away: every call that may
/// write holds it back, and with connect() the library's thread does.
class MqttSink final : public MessageSink {
 public:
  MqttSink(BrokerSettings settings, std::function<void(const Status&)> warn)
      : settings_(std::move(settings)),
        warn_(std::move(warn)),
        queue_(settings_, kMaxMqttInFlight,
               [this](const std::string& text) { return publish(text); }) {
    mosquitto_lib_init();
  }

  ~MqttSink() override {
    MqttSink::close();
    const PipeErrors pipe_errors;
    if (client_) mosquitto_destroy(client_);
    mosquitto_lib_cleanup();
  }

  Status connect() {
    const PipeErrors pipe_errors;
    HET_ASSIGN(const Broker broker, parse_address(settings_.address, settings_.tls));
    if (settings_.topic.empty()) {
      return error(StatusCode::InvalidArgument,
                   "topic is empty; set it to where messages shall go");
    }
    client_ = mosquitto_new(settings_.client_id.empty() ? nullptr : settings_.client_id.c_str(),
                            true, this);
    if (!client_) return error(StatusCode::OutOfMemory, "no memory for an MQTT client");
    if (!settings_.username.empty()) {
      mosquitto_username_pw_set(client_, settings_.username.c_str(), settings_.password.c_str());
    }
    if (broker.tls || !settings_.ca_file.empty()) {
      const auto text = [](const std::string& s) { return s.empty() ? nullptr : s.c_str(); };
      const int code = mosquitto_tls_set(
          client_, text(settings_.ca_file), settings_.ca_file.empty() ? "/etc/ssl/certs" : nullptr,
          text(settings_.cert_file), text(settings_.key_file), key_password);
      if (code != MOSQ_ERR_SUCCESS) {
        return error(StatusCode::InvalidArgument,
                     "TLS with tls-ca-file '{}', tls-cert-file '{}' and tls-key-file '{}': {}",
                     settings_.ca_file, settings_.cert_file, settings_.key_file,
                     mosquitto_strerror(code));
      }
      mosquitto_tls_insecure_set(client_, !settings_.checks_host);
      if (!settings_.checks_certificate) mosquitto_tls_opts_set(client_, 0, nullptr, nullptr);
    }
    mosquitto_reconnect_delay_set(client_, 1, settings_.reconnect_interval_s, true);
    mosquitto_connect_callback_set(client_, [](mosquitto*, void* self, int code) {
      static_cast<MqttSink*>(self)->on_connect(code);
    });
    mosquitto_disconnect_callback_set(client_, [](mosquitto*, void* self, int code) {
      static_cast<MqttSink*>(self)->on_disconnect(code);
    });
    mosquitto_publish_callback_set(
        client_, [](mosquitto*, void* self, int) { static_cast<MqttSink*>(self)->on_confirmed(); });
    int code = MOSQ_ERR_SUCCESS;
    for (unsigned attempt = 0; attempt < settings_.connect_attempts; ++attempt) {
      if (attempt > 0) {
        std::this_thread::sleep_for(
            std::chrono::seconds(std::min(1u << (attempt - 1), settings_.reconnect_interval_s)));
      }
      code = mosquitto_connect(client_, broker.host.c_str(), broker.port, kKeepAliveS);
      if (code == MOSQ_ERR_SUCCESS) break;
    }
    if (code != MOSQ_ERR_SUCCESS) {
      return error(StatusCode::NotFound,
                   "no MQTT broker answers at {} after {} attempts: {}; check address and TLS "
                   "options",
                   settings_.address, settings_.connect_attempts, mosquitto_strerror(code));
    }
    mosquitto_loop_start(client_);
    looping_ = true;
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kSignInLimit,
                      [&] { return answer_ >= 0 || failures_ >= settings_.connect_attempts; });
    if (answer_ < 0) {
      closing_ = true;
      return error(StatusCode::NotFound,
                   "the MQTT broker at {} takes no connection ({}); check the TLS options",
                   settings_.address, mosquitto_strerror(failure_));
    }
    if (answer_ != 0) {
      closing_ = true;
      return error(StatusCode::InvalidArgument,
                   "the MQTT broker at {} refuses user '{}': {}; check username and password",
                   settings_.address, settings_.username, mosquitto_connack_string(answer_));
    }
    return {};
  }

  Status write(const std::string& message) override { return queue_.write(message); }
  void interrupt() override { queue_.interrupt(); }
  MessageCounts counts() const override { return queue_.counts(); }
  MessageCounts close() override {
    if (!std::exchange(looping_, false)) return counts();
    report(queue_.drain());
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    const PipeErrors pipe_errors;
    mosquitto_disconnect(client_);
    mosquitto_loop_stop(client_, true);
    return counts();
  }

 private:
  /// OpenSSL asks for the password of the client's key; what does not fit is no answer.
  static int key_password(char* buffer, int size, int, void* client) {
    const auto* self = static_cast<MqttSink*>(mosquitto_userdata(static_cast<mosquitto*>(client)));
    const std::string& password = self->settings_.key_password;
    if (size < 0 || password.size() > static_cast<size_t>(size)) return 0;
    std::copy(password.begin(), password.end(), buffer);
    return static_cast<int>(password.size());
  }

  Result<bool> publish(const std::string& message) {
    const PipeErrors pipe_errors;
    const int code =
        mosquitto_publish(client_, nullptr, settings_.topic.c_str(),
                          static_cast<int>(message.size()), message.data(), settings_.qos, false);
    if (code == MOSQ_ERR_SUCCESS) return true;
    // Without a connection qos 1 and 2 stay with the library, which sends them later.
    if (code == MOSQ_ERR_NO_CONN) return settings_.qos > 0;
    return error(StatusCode::InvalidArgument, "cannot publish to topic '{}' at {}: {}",
                 settings_.topic, settings_.address, mosquitto_strerror(code));
  }

  void on_connect(int code) {
    report(queue_.set_connected(code == 0));
    const std::lock_guard lock(mutex_);
    answer_ = code;
    connected_ = code == 0;
    changed_.notify_all();
  }

  void on_disconnect(int code) {
    report(queue_.set_connected(false));
    {
      const std::lock_guard lock(mutex_);
      const bool was_connected = std::exchange(connected_, false);
      if (answer_ < 0) {
        ++failures_;
        failure_ = code;
        changed_.notify_all();
      }
      if (code == 0 || closing_ || !was_connected) return;
    }
    report(Status(StatusCode::NotFound,
                  fmt::format("the connection to the MQTT broker at {} is lost ({}); messages "
                              "wait until it is back",
                              settings_.address, mosquitto_strerror(code))));
  }

  void on_confirmed() { report(queue_.confirmed()); }

  void report(const Status& status) {
    if (!status.ok()) warn_(status);
  }

  const BrokerSettings settings_;
  const std::function<void(const Status&)> warn_;
  BrokerQueue queue_;
  mosquitto* client_ = nullptr;
  bool looping_ = false;

  std::mutex mutex_;  ///< protects everything below; taken alone
  std::condition_variable changed_;
  int answer_ = -1;        ///< of the broker to the last attempt to sign in
  unsigned failures_ = 0;  ///< connections that ended before an answer
  int failure_ = MOSQ_ERR_CONN_PENDING;
  bool connected_ = false;
  bool closing_ = false;
};

}  // namespace

Result<std::unique_ptr<MessageSink>> connect_mqtt(const BrokerSettings& settings,
                                                  std::function<void(const Status&)> warn) {
  auto sink = std::make_unique<MqttSink>(settings, std::move(warn));
  HET_TRY(sink->connect());
  return std::unique_ptr<MessageSink>(std::move(sink));
}

}  // namespace het::gst
