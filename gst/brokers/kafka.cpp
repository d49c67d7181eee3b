#include "kafka.h"

#include <fmt/format.h>
#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "broker_queue.h"
#include "inference/base/log.h"

namespace het::gst {
namespace {

/// With the library at one time; what waits in front can still be dropped.
constexpr size_t kMaxKafkaInFlight = 200;
constexpr int kAnswerLimitMs = 5000;
constexpr int kPollMs = 100;

class KafkaSink final : public MessageSink {
 public:
  KafkaSink(BrokerSettings settings, std::function<void(const Status&)> warn)
      : settings_(std::move(settings)),
        warn_(std::move(warn)),
        queue_(settings_, kMaxKafkaInFlight,
               [this](const std::string& message) { return produce(message); }) {}

  ~KafkaSink() override {
    KafkaSink::close();
    if (topic_) rd_kafka_topic_destroy(topic_);
    if (producer_) rd_kafka_destroy(producer_);
  }

  Status connect() {
    if (settings_.address.empty()) {
      return error(StatusCode::InvalidArgument,
                   "address is empty; set it to HOST:PORT of a Kafka broker");
    }
    if (settings_.topic.empty()) {
      return error(StatusCode::InvalidArgument,
                   "topic is empty; set it to where messages shall go");
    }
    HET_TRY(create());
    HET_TRY(find_topic());
    is_polling_ = true;
    poller_ = std::thread([this] {
      while (!stop_) rd_kafka_poll(producer_, kPollMs);
      rd_kafka_poll(producer_, 0);
    });
    return queue_.set_connected(true);
  }

  Status write(const std::string& message) override { return queue_.write(message); }
  void interrupt() override { queue_.interrupt(); }
  MessageCounts counts() const override { return queue_.counts(); }
  MessageCounts close() override {
    if (!poller_.joinable()) return counts();
    report(queue_.drain());
    closing_ = true;
    rd_kafka_purge(producer_, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    stop_ = true;
    poller_.join();
    return counts();
  }

 private:
  std::vector<std::pair<std::string, std::string>> options() const {
    const bool tls = !settings_.ca_file.empty();
    const bool signs_in = !settings_.username.empty();
    std::vector<std::pair<std::string, std::string>> all = {
        {"bootstrap.servers", settings_.address},
        {"enable.idempotence", "true"},
        {"message.timeout.ms", "0"},  // as long as it takes: the queue is bounded
        {"linger.ms", "5"},
        {"reconnect.backoff.ms", "100"},
        {"reconnect.backoff.max.ms", std::to_string(settings_.reconnect_interval_s * 1000)},
        {"security.protocol", signs_in ? tls ? "sasl_ssl" : "sasl_plaintext"
                              : tls    ? "ssl"
                                       : "plaintext"}};
    if (!settings_.client_id.empty()) all.emplace_back("client.id", settings_.client_id);
    if (signs_in) {
      all.emplace_back("sasl.mechanism", "PLAIN");
      all.emplace_back("sasl.username", settings_.username);
      all.emplace_back("sasl.password", settings_.password);
    }
    if (tls) all.emplace_back("ssl.ca.location", settings_.ca_file);
    if (!settings_.cert_file.empty()) {
      all.emplace_back("ssl.certificate.location", settings_.cert_file);
    }
    if (!settings_.key_file.empty()) all.emplace_back("ssl.key.location", settings_.key_file);
    return all;
  }

  Status create() {
    std::array<char, 512> text{};
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    for (const auto& [name, value] : options()) {
      if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text.data(), text.size()) ==
          RD_KAFKA_CONF_OK) {
        continue;
      }
      rd_kafka_conf_destroy(conf);
      return error(StatusCode::InvalidArgument, "Kafka's {}: {}", name, text.data());
    }
    rd_kafka_conf_set_opaque(conf, this);
    rd_kafka_conf_set_dr_msg_cb(conf,
                                [](rd_kafka_t*, const rd_kafka_message_t* message, void* self) {
                                  static_cast<KafkaSink*>(self)->on_report(message->err);
                                });
    rd_kafka_conf_set_error_cb(conf, [](rd_kafka_t*, int code, const char* reason, void* self) {
      static_cast<KafkaSink*>(self)->on_error(static_cast<rd_kafka_resp_err_t>(code), reason);
    });
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char* line) {
      log(LogLevel::Debug, "librdkafka: {}", line);
    });
    producer_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text.data(), text.size());
    if (!producer_) {
      rd_kafka_conf_destroy(conf);
      return error(StatusCode::InvalidArgument, "no Kafka producer for {}: {}", settings_.address,
                   text.data());
    }
    topic_ = rd_kafka_topic_new(producer_, settings_.topic.c_str(), nullptr);
    if (!topic_) {
      return error(StatusCode::InvalidArgument, "'{}' is no name of a Kafka topic: {}",
                   settings_.topic, rd_kafka_err2str(rd_kafka_last_error()));
    }
    return {};
  }

  /// A broker that makes topics when they are asked for needs a moment.
  Status find_topic() {
    rd_kafka_resp_err_t code = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (unsigned attempt = 0; attempt < std::max(settings_.connect_attempts, 2u); ++attempt) {
      const bool is_extra = attempt >= settings_.connect_attempts;
      // Only an answer that there is no such topic, or no leader yet, is worth another question.
      if (is_extra && code != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART &&
          code != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) {
        break;
      }
      if (attempt > 0) {
        const auto pause = std::min(1u << (attempt - 1), settings_.reconnect_interval_s);
        std::this_thread::sleep_for(std::chrono::seconds(pause));
      }
      const rd_kafka_metadata_t* metadata = nullptr;
      code = rd_kafka_metadata(producer_, 0, topic_, &metadata, kAnswerLimitMs);
      rd_kafka_poll(producer_, 0);  // errors, such as a refused password
      if (code != RD_KAFKA_RESP_ERR_NO_ERROR) continue;
      code = metadata->topic_cnt == 1 ? metadata->topics[0].err
                                      : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
      rd_kafka_metadata_destroy(metadata);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    }
    if (!refusal_.empty()) {
      return error(StatusCode::InvalidArgument,
                   "the Kafka broker at {} refuses user '{}': {}; check username, password and "
                   "the TLS options",
                   settings_.address, settings_.username, refusal_);
    }
    if (code == RD_KAFKA_RESP_ERR__TRANSPORT || code == RD_KAFKA_RESP_ERR__TIMED_OUT ||
        code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
      return error(StatusCode::NotFound,
                   "no Kafka broker answers at {} after {} attempts: {}; check address and TLS "
                   "options",
                   settings_.address, settings_.connect_attempts, rd_kafka_err2str(code));
    }
    return error(StatusCode::InvalidArgument, "the Kafka broker at {} has no topic '{}' for us: {}",
                 settings_.address, settings_.topic, rd_kafka_err2str(code));
  }

  Result<bool> produce(const std::string& message) {
    // The library copies it.
    const int failed =
        rd_kafka_produce(topic_, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                         const_cast<char*>(message.data()), message.size(), nullptr, 0, nullptr);
    if (failed == 0) return true;
    const rd_kafka_resp_err_t code = rd_kafka_last_error();
    if (code == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
    return error(StatusCode::InvalidArgument,
                 "cannot publish a message of {} bytes to topic '{}' at {}: {}", message.size(),
                 settings_.topic, settings_.address, rd_kafka_err2str(code));
  }

  void on_report(rd_kafka_resp_err_t code) {
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
      lost_ = false;
      report(queue_.confirmed());
      return;
    }
    if (!closing_) {
      report(Status(StatusCode::InvalidArgument,
                    fmt::format("the Kafka broker at {} takes no message for topic '{}': {}",
                                settings_.address, settings_.topic, rd_kafka_err2str(code))));
    }
    report(queue_.given_up());
  }

  void on_error(rd_kafka_resp_err_t code, const char* reason) {
    if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION) refusal_ = reason;
    if (!is_polling_ || closing_) return;  // connect() tells it
    if (code == RD_KAFKA_RESP_ERR__FATAL) {
      report(Status(StatusCode::Internal, fmt::format("the Kafka producer for {} has ended: {}",
                                                      settings_.address, reason)));
    } else if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN && !lost_.exchange(true)) {
      report(Status(StatusCode::NotFound,
                    fmt::format("the connection to the Kafka broker at {} is lost ({}); messages "
                                "wait until it is back",
                                settings_.address, reason)));
    }
  }

  void report(const Status& status) {
    if (!status.ok()) warn_(status);
  }

  const BrokerSettings settings_;
  const std::function<void(const Status&)> warn_;
  BrokerQueue queue_;
  rd_kafka_t* producer_ = nullptr;
  rd_kafka_topic_t* topic_ = nullptr;
  std::string refusal_;  ///< of connect(), then of poller_
  std::thread poller_;   ///< all callbacks run on it
  std::atomic<bool> is_polling_ = false;
  std::atomic<bool> lost_ = false;
  std::atomic<bool> closing_ = false;
  std::atomic<bool> stop_ = false;
};

}  // namespace

Result<std::unique_ptr<MessageSink>> connect_kafka(const BrokerSettings& settings,
                                                   std::function<void(const Status&)> warn) {
  auto sink = std::make_unique<KafkaSink>(settings, std::move(warn));
  HET_TRY(sink->connect());
  return std::unique_ptr<MessageSink>(std::move(sink));
}

}  // namespace het::gst
