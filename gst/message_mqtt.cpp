#include "message_mqtt.h"

#ifdef HET_MQTT

#include <mosquitto.h>

#include <charconv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace het::gst {
namespace {

constexpr size_t kMaxInFlight = 20;
constexpr int kKeepAliveS = 20;
constexpr std::chrono::seconds kSignInLimit{10};

struct Broker {
  std::string host;
  int port = 1883;
  bool tls = false;
};

Result<Broker> parse_address(std::string address) {
  Broker broker;
  if (const size_t scheme = address.find("://"); scheme != std::string::npos) {
    const std::string name = address.substr(0, scheme);
    if (name != "tcp" && name != "mqtt" && name != "ssl" && name != "mqtts") {
      return error(StatusCode::InvalidArgument,
                   "address has the scheme '{}'; tcp, mqtt, ssl and mqtts are valid", name);
    }
    broker.tls = name == "ssl" || name == "mqtts";
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

class MqttSink final : public MessageSink {
 public:
  MqttSink(MqttSettings settings, std::function<void(const Status&)> warn)
      : settings_(std::move(settings)), warn_(std::move(warn)) {
    mosquitto_lib_init();
  }

  ~MqttSink() override {
    if (client_ && looping_) {
      {
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, std::chrono::milliseconds(settings_.drain_timeout_ms),
                          [&] { return queue_.empty() && in_flight_ == 0; });
        closing_ = true;
        if (const size_t left = queue_.size() + in_flight_; left > 0) {
          warn_(Status(StatusCode::TimedOut,
                       fmt::format("{} messages for {} were not confirmed within drain-timeout of "
                                   "{} ms and are given up",
                                   left, settings_.address, settings_.drain_timeout_ms)));
        }
      }
      mosquitto_disconnect(client_);
      mosquitto_loop_stop(client_, true);
    }
    if (client_) mosquitto_destroy(client_);
    mosquitto_lib_cleanup();
  }

  Status connect() {
    HET_ASSIGN(const Broker broker, parse_address(settings_.address));
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
          text(settings_.cert_file), text(settings_.key_file), nullptr);
      if (code != MOSQ_ERR_SUCCESS) {
        return error(StatusCode::InvalidArgument,
                     "TLS with tls-ca-file '{}', tls-cert-file '{}' and tls-key-file '{}': {}",
                     settings_.ca_file, settings_.cert_file, settings_.key_file,
                     mosquitto_strerror(code));
      }
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
    if (!changed_.wait_for(lock, kSignInLimit, [&] { return answer_ >= 0; })) {
      closing_ = true;
      return error(StatusCode::TimedOut, "the MQTT broker at {} takes no connection",
                   settings_.address);
    }
    if (answer_ != 0) {
      closing_ = true;
      return error(StatusCode::InvalidArgument,
                   "the MQTT broker at {} refuses user '{}': {}; check username and password",
                   settings_.address, settings_.username, mosquitto_connack_string(answer_));
    }
    return {};
  }

  Status write(const std::string& message) override {
    std::unique_lock lock(mutex_);
    const auto has_room = [&] { return queue_.size() + in_flight_ < settings_.queue_size; };
    if (!has_room() && settings_.drop_oldest && !queue_.empty()) {
      queue_.pop_front();
      ++dropped_;
    } else if (!has_room() && settings_.drop_oldest) {
      ++written_;
      ++dropped_;  // all that wait are on their way already
      return {};
    } else {
      changed_.wait(lock, [&] { return has_room() || interrupted_; });
      if (interrupted_) return error(StatusCode::Cancelled, "writing to the broker was ended");
    }
    ++written_;
    queue_.push_back(message);
    return send(lock);
  }

  void interrupt() override {
    const std::lock_guard lock(mutex_);
    interrupted_ = true;
    changed_.notify_all();
  }

  MessageCounts counts() const override {
    const std::lock_guard lock(mutex_);
    return {written_, delivered_, dropped_, queue_.size() + in_flight_};
  }

 private:
  /// Hands the library what it may have in flight.
  Status send(std::unique_lock<std::recursive_mutex>&) {
    while (connected_ && !queue_.empty() && in_flight_ < kMaxInFlight) {
      const std::string& message = queue_.front();
      ++in_flight_;
      const int code =
          mosquitto_publish(client_, nullptr, settings_.topic.c_str(),
                            static_cast<int>(message.size()), message.data(), settings_.qos, false);
      // Without a connection qos 1 and 2 stay with the library, which sends them later.
      const bool kept = code == MOSQ_ERR_SUCCESS || (code == MOSQ_ERR_NO_CONN && settings_.qos > 0);
      if (!kept) --in_flight_;
      if (code == MOSQ_ERR_NO_CONN && !kept) return {};
      if (!kept) {
        return error(StatusCode::InvalidArgument, "cannot publish to topic '{}' at {}: {}",
                     settings_.topic, settings_.address, mosquitto_strerror(code));
      }
      queue_.pop_front();
    }
    return {};
  }

  void on_connect(int code) {
    std::unique_lock lock(mutex_);
    answer_ = code;
    connected_ = code == 0;
    if (connected_) report(send(lock));
    changed_.notify_all();
  }

  void on_disconnect(int code) {
    const std::lock_guard lock(mutex_);
    const bool was_connected = connected_;
    connected_ = false;
    if (code == 0 || closing_ || !was_connected) return;
    report(Status(StatusCode::NotFound,
                  fmt::format("the connection to the MQTT broker at {} is lost ({}); messages "
                              "wait until it is back",
                              settings_.address, mosquitto_strerror(code))));
  }

  void on_confirmed() {
    std::unique_lock lock(mutex_);
    if (in_flight_ > 0) --in_flight_;
    ++delivered_;
    report(send(lock));
    changed_.notify_all();
  }

  void report(const Status& status) {
    if (!status.ok()) warn_(status);
  }

  const MqttSettings settings_;
  const std::function<void(const Status&)> warn_;
  mosquitto* client_ = nullptr;
  bool looping_ = false;

  /// Protects the members below; the library may call back from within mosquitto_publish(). Taken
  /// alone.
  mutable std::recursive_mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::string> queue_;
  size_t in_flight_ = 0;  ///< with the library and not confirmed
  uint64_t written_ = 0;
  uint64_t delivered_ = 0;
  uint64_t dropped_ = 0;
  int answer_ = -1;  ///< of the broker to the last attempt to sign in
  bool connected_ = false;
  bool closing_ = false;
  bool interrupted_ = false;
};

}  // namespace

Result<std::unique_ptr<MessageSink>> connect_mqtt(const MqttSettings& settings,
                                                  std::function<void(const Status&)> warn) {
  auto sink = std::make_unique<MqttSink>(settings, std::move(warn));
  HET_TRY(sink->connect());
  return std::unique_ptr<MessageSink>(std::move(sink));
}

}  // namespace het::gst

#else

namespace het::gst {

Result<std::unique_ptr<MessageSink>> connect_mqtt(const MqttSettings&,
                                                  std::function<void(const Status&)>) {
  return error(StatusCode::NotSupported,
               "this build has no MQTT: install libmosquitto-dev and build again");
}

}  // namespace het::gst

#endif
