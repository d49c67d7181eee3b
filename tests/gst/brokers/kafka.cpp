/// Messages to librdkafka's mock cluster: brokers of this process that speak Kafka's protocol over
/// TCP, of which the tests take some away.

#include "gst/brokers/kafka.h"

#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/gst/pipeline_run.h"

namespace het::gst_test {
namespace {

using gst::BrokerSettings;
using gst::connect_kafka;

/// One broker with the topic "frames" of one partition.
class Cluster {
 public:
  Cluster() {
    char text[256];
    client_ = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), text, sizeof text);
    cluster_ = rd_kafka_mock_cluster_new(client_, 1);
    rd_kafka_mock_topic_create(cluster_, "frames", 1, 1);
  }
  ~Cluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(client_);
  }
  BrokerSettings settings() const {
    BrokerSettings settings;
    settings.address = rd_kafka_mock_cluster_bootstraps(cluster_);
    settings.topic = "frames";
    settings.reconnect_interval_s = 1;
    settings.drain_timeout_ms = 60'000;
    return settings;
  }
  void set_down(bool down) {
    if (down) {
      rd_kafka_mock_broker_set_down(cluster_, 1);
    } else {
      rd_kafka_mock_broker_set_up(cluster_, 1);
    }
  }
  /// The next answer to a message is this error.
  void fail_next(rd_kafka_resp_err_t code) {
    constexpr int16_t kProduce = 0;  // Kafka's number of the request
    rd_kafka_mock_push_request_errors(cluster_, kProduce, 1, code);
  }

  /// Everything in the topic, once `count` messages are there or a minute is over.
  std::vector<std::string> read(size_t count) const {
    char text[256];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    const std::string address = rd_kafka_mock_cluster_bootstraps(cluster_);
    rd_kafka_conf_set(conf, "bootstrap.servers", address.c_str(), text, sizeof text);
    rd_kafka_conf_set(conf, "group.id", "reader", text, sizeof text);
    rd_kafka_t* reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    rd_kafka_topic_partition_list_t* parts = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(parts, "frames", 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_assign(reader, parts);
    std::vector<std::string> found;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (found.size() < count && std::chrono::steady_clock::now() < end) {
      rd_kafka_message_t* message = rd_kafka_consumer_poll(reader, 200);
      if (!message) continue;
      if (!message->err)
        found.emplace_back(static_cast<const char*>(message->payload), message->len);
      rd_kafka_message_destroy(message);
    }
    rd_kafka_topic_partition_list_destroy(parts);
    rd_kafka_consumer_close(reader);
    rd_kafka_destroy(reader);
    return found;
  }

 private:
  rd_kafka_t* client_;
  rd_kafka_mock_cluster_t* cluster_;
};

/// What a sink has to say.
class Warnings {
 public:
  std::function<void(const Status&)> taker() {
    return [this](const Status& status) {
      const std::lock_guard lock(mutex_);
      texts_.push_back(status.message());
    };
  }
  std::vector<std::string> texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;  ///< protects texts_
  std::vector<std::string> texts_;
};

std::vector<std::string> numbers(int from, int to) {
  std::vector<std::string> texts;
  for (int i = from; i < to; ++i) texts.push_back(std::to_string(i));
  return texts;
}

TEST(MessageKafka, ABrokerThatGoesAndComesLosesNothing) {
  Cluster cluster;
  Warnings warnings;
  BrokerSettings settings = cluster.settings();
  settings.queue_size = 50;
  auto sink = connect_kafka(settings, warnings.taker());
  ASSERT_TRUE(sink) << sink.error().message();
  std::atomic<bool> failed = false;
  const auto write = [&](int from, int to) {
    for (int i = from; i < to; ++i) failed = failed || !(*sink)->write(std::to_string(i)).ok();
  };
  write(0, 200);
  cluster.set_down(true);
  std::thread writer(write, 200, 400);  // more than the queue holds: it waits for the broker
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LE((*sink)->counts().waiting, 50u);
  cluster.set_down(false);
  writer.join();
  const gst::MessageCounts counts = (*sink)->close();
  EXPECT_FALSE(failed);
  EXPECT_EQ(counts.delivered, 400u);
  EXPECT_EQ(counts.dropped + counts.waiting, 0u);
  EXPECT_EQ(cluster.read(400), numbers(0, 400)) << "each once, in order";
  EXPECT_LE(warnings.texts().size(), 1u);
}

TEST(MessageKafka, AnAnswerThatSaysTryAgainIsTriedAgain) {
  Cluster cluster;
  Warnings warnings;
  auto sink = connect_kafka(cluster.settings(), warnings.taker());
  ASSERT_TRUE(sink) << sink.error().message();
  cluster.fail_next(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
  for (const std::string& text : numbers(0, 10)) EXPECT_TRUE((*sink)->write(text).ok());
  EXPECT_EQ((*sink)->close().delivered, 10u);
  EXPECT_EQ(cluster.read(10), numbers(0, 10));
  EXPECT_TRUE(warnings.texts().empty());
}

TEST(MessageKafka, WhatIsRefusedForGoodIsSaidAndCounted) {
  Cluster cluster;
  Warnings warnings;
  auto sink = connect_kafka(cluster.settings(), warnings.taker());
  ASSERT_TRUE(sink) << sink.error().message();
  cluster.fail_next(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  EXPECT_TRUE((*sink)->write("refused").ok());
  const gst::MessageCounts counts = (*sink)->close();
  EXPECT_EQ(counts.dropped, 1u);
  EXPECT_EQ(counts.delivered, 0u);
  ASSERT_FALSE(warnings.texts().empty());
  EXPECT_NE(warnings.texts()[0].find("frames"), std::string::npos) << warnings.texts()[0];
}

TEST(MessageKafka, AFullQueueDropsTheOldest) {
  Cluster cluster;
  Warnings warnings;
  BrokerSettings settings = cluster.settings();
  settings.queue_size = 30;
  settings.drop_oldest = true;
  settings.drain_timeout_ms = 10;
  auto sink = connect_kafka(settings, warnings.taker());
  ASSERT_TRUE(sink) << sink.error().message();
  cluster.set_down(true);
  for (const std::string& text : numbers(0, 100)) EXPECT_TRUE((*sink)->write(text).ok());
  gst::MessageCounts counts = (*sink)->counts();
  EXPECT_EQ(counts.written, 100u);
  EXPECT_LE(counts.waiting, 30u);
  EXPECT_EQ(counts.delivered + counts.dropped + counts.waiting, 100u);
  counts = (*sink)->close();
  EXPECT_EQ(counts.waiting, 0u);
  EXPECT_EQ(counts.delivered + counts.dropped, 100u);
  ASSERT_FALSE(warnings.texts().empty());  // what the end gives up is said
}

TEST(MessageKafka, AWaitingWriteEndsWhenItIsInterrupted) {
  Cluster cluster;
  BrokerSettings settings = cluster.settings();
  settings.queue_size = 5;
  settings.drain_timeout_ms = 10;
  auto sink = connect_kafka(settings, [](const Status&) {});
  ASSERT_TRUE(sink) << sink.error().message();
  cluster.set_down(true);
  Status last;
  std::thread writer([&] {
    for (int i = 0; i < 100 && last.ok(); ++i) last = (*sink)->write("text");
  });
  while ((*sink)->counts().waiting < 5) std::this_thread::yield();
  (*sink)->interrupt();
  writer.join();
  EXPECT_EQ(last.code(), StatusCode::Cancelled);
}

TEST(MessageKafka, NoBrokerABadTopicAndBadOptionsAreClearErrors) {
  const auto refused = [](BrokerSettings settings) {
    auto sink = connect_kafka(settings, [](const Status&) {});
    return sink ? Status() : Status(sink.error());
  };
  BrokerSettings settings;
  settings.topic = "frames";
  EXPECT_EQ(refused(settings).code(), StatusCode::InvalidArgument);  // no address
  settings.address = "127.0.0.1:1";
  EXPECT_EQ(refused(settings).code(), StatusCode::NotFound) << refused(settings).message();
  settings.topic = "";
  EXPECT_NE(refused(settings).message().find("topic is empty"), std::string::npos);
  settings.topic = "frames";
  settings.ca_file = "/no/such/file.pem";
  EXPECT_EQ(refused(settings).code(), StatusCode::InvalidArgument) << refused(settings).message();
}

TEST(MessageKafka, TheElementSendsAMessageAFrame) {
  Cluster cluster;
  PipelineRun run(
      "videotestsrc num-buffers=20 ! heterometaconvert add-empty-results=true tags={\"room\":7} ! "
      "heterometapublish name=publish method=kafka topic=frames address=" +
      cluster.settings().address + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  const std::vector<std::string> messages = cluster.read(20);
  ASSERT_EQ(messages.size(), 20u);
  EXPECT_NE(messages[0].find("\"room\":7"), std::string::npos) << messages[0];
  GstStructure* stats = nullptr;
  g_object_get(run.element("publish"), "stats", &stats, nullptr);
  guint64 delivered = 0;
  EXPECT_TRUE(gst_structure_get_uint64(stats, "delivered", &delivered));
  EXPECT_EQ(delivered, 20u) << "also after the end";
  gst_structure_free(stats);
}

TEST(MessageKafka, TheSplitElementSendsAMessageAFrame) {
  Cluster cluster;
  PipelineRun run(
      "videotestsrc num-buffers=20 ! heterometaconvert add-empty-results=true ! "
      "heterometapublishkafka topic=frames address=" +
      cluster.settings().address + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(cluster.read(20).size(), 20u);
}

}  // namespace
}  // namespace het::gst_test
