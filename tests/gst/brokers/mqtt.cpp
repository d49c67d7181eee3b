/// Messages to a real mosquitto broker, which the tests start and stop.

#include "gst/brokers/mqtt.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <mosquitto.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using gst::BrokerSettings;
using gst::connect_mqtt;

int free_port() {
  const int handle = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  bind(handle, reinterpret_cast<sockaddr*>(&address), size);
  getsockname(handle, reinterpret_cast<sockaddr*>(&address), &size);
  close(handle);
  return ntohs(address.sin_port);
}

/// A mosquitto process that keeps sessions on disk, so that a restart loses nothing of its own.
class Broker {
 public:
  explicit Broker(const std::string& options = "allow_anonymous true\n") : port_(free_port()) {
    write_text(folder_.file("conf"), "listener " + std::to_string(port_) +
                                         " 127.0.0.1\nuser root\npersistence true\n"
                                         "persistence_location " +
                                         folder_.file("") + "\nmax_queued_messages 0\n" + options);
    start();
  }
  ~Broker() { stop(); }
  void start() {
    process_ = fork();
    if (process_ == 0) {
      if (!freopen("/dev/null", "w", stderr)) _exit(126);
      execlp("mosquitto", "mosquitto", "-c", folder_.file("conf").c_str(), nullptr);
      execl("/usr/sbin/mosquitto", "mosquitto", "-c", folder_.file("conf").c_str(), nullptr);
      _exit(127);
    }
  }
  void stop(int signal = SIGTERM) {
    if (process_ <= 0) return;
    kill(process_, signal);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  BrokerSettings settings() const {
    BrokerSettings settings;
    settings.address = "127.0.0.1:" + std::to_string(port_);
    settings.topic = "frames";
    settings.connect_attempts = 6;  // until the broker listens
    settings.reconnect_interval_s = 1;
    settings.drain_timeout_ms = 60'000;
    return settings;
  }
  int port() const { return port_; }

 private:
  ScratchFolder folder_;
  int port_;
  pid_t process_ = 0;
};

/// Takes what is published; its session survives a restart of the broker.
class Subscriber {
 public:
  explicit Subscriber(int port, std::string topic = "frames")
      : topic_(std::move(topic)), client_(mosquitto_new("subscriber", false, this)) {
    mosquitto_reconnect_delay_set(client_, 1, 1, false);
    mosquitto_connect_callback_set(client_, [](mosquitto* client, void* self, int) {
      mosquitto_subscribe(client, nullptr, static_cast<Subscriber*>(self)->topic_.c_str(), 1);
    });
    mosquitto_subscribe_callback_set(client_, [](mosquitto*, void* self, int, int, const int*) {
      auto* subscriber = static_cast<Subscriber*>(self);
      const std::lock_guard lock(subscriber->mutex_);
      subscriber->ready_ = true;
      subscriber->changed_.notify_all();
    });
    mosquitto_message_callback_set(
        client_, [](mosquitto*, void* self, const mosquitto_message* message) {
          auto* subscriber = static_cast<Subscriber*>(self);
          const std::lock_guard lock(subscriber->mutex_);
          ++subscriber->received_;
          subscriber->texts_.emplace(static_cast<const char*>(message->payload),
                                     static_cast<size_t>(message->payloadlen));
          subscriber->changed_.notify_all();
        });
    for (int i = 0; mosquitto_connect(client_, "127.0.0.1", port, 20) != 0 && i < 100; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // until the broker listens
    }
    mosquitto_loop_start(client_);
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return ready_; });
  }
  ~Subscriber() {
    mosquitto_disconnect(client_);
    mosquitto_loop_stop(client_, true);
    mosquitto_destroy(client_);
  }
  size_t wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, std::chrono::seconds(60), [&] { return texts_.size() >= count; });
    return texts_.size();
  }
  /// The same message twice counts twice.
  size_t received() const {
    std::lock_guard lock(mutex_);
    return received_;
  }

 private:
  const std::string topic_;
  mosquitto* client_;
  mutable std::mutex mutex_;  ///< protects the members below; taken alone
  std::condition_variable changed_;
  bool ready_ = false;
  size_t received_ = 0;
  std::set<std::string> texts_;
};

TEST(MessageMqtt, ARestartOfTheBrokerLosesNothing) {
  Broker broker;
  std::atomic<int> warnings = 0;
  BrokerSettings settings = broker.settings();
  settings.queue_size = 50;
  auto sink = connect_mqtt(settings, [&](const Status&) { ++warnings; });
  ASSERT_TRUE(sink) << sink.error().message();
  Subscriber subscriber(broker.port());
  std::atomic<bool> failed = false;
  const auto write = [&](int from, int to) {
    for (int i = from; i < to; ++i) failed = failed || !(*sink)->write(std::to_string(i)).ok();
  };
  write(0, 200);
  broker.stop();
  std::thread writer(write, 200, 400);  // more than the queue holds: it waits for the broker
  broker.start();
  writer.join();
  sink->reset();  // drains
  EXPECT_FALSE(failed);
  EXPECT_EQ(subscriber.wait_for(400), 400u);
  EXPECT_LE(warnings, 1);
}

TEST(MessageMqtt, AFullQueueDropsTheOldestOrWaits) {
  Broker broker;
  BrokerSettings settings = broker.settings();
  settings.queue_size = 30;
  settings.drop_oldest = true;
  settings.drain_timeout_ms = 10;
  std::atomic<int> warnings = 0;
  auto sink = connect_mqtt(settings, [&](const Status&) { ++warnings; });
  ASSERT_TRUE(sink) << sink.error().message();
  broker.stop();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE((*sink)->write(std::to_string(i)).ok());
  const gst::MessageCounts counts = (*sink)->counts();
  EXPECT_EQ(counts.written, 100u);
  EXPECT_LE(counts.waiting, 30u);
  EXPECT_EQ(counts.delivered + counts.dropped + counts.waiting, 100u);
  sink->reset();
  EXPECT_GE(warnings, 1);  // what the end gives up is said
}

TEST(MessageMqtt, AWrongPasswordIsOneClearError) {
  ScratchFolder folder;
  const std::string passwords = folder.file("passwords");
  if (std::system(
          ("PATH=$PATH:/usr/sbin mosquitto_passwd -b -c " + passwords + " camera right").c_str()) !=
      0) {
    GTEST_SKIP() << "mosquitto_passwd is not installed";
  }
  Broker broker("allow_anonymous false\npassword_file " + passwords + "\n");
  BrokerSettings settings = broker.settings();
  settings.username = "camera";
  settings.password = "wrong";
  auto sink = connect_mqtt(settings, [](const Status&) {});
  ASSERT_FALSE(sink);
  EXPECT_NE(sink.error().message().find("camera"), std::string::npos) << sink.error().message();
  settings.password = "right";
  EXPECT_TRUE(connect_mqtt(settings, [](const Status&) {}));
}

TEST(MessageMqtt, NoBrokerAndABadAddressAreClearErrors) {
  BrokerSettings settings;
  settings.topic = "frames";
  for (const char* address : {"", "127.0.0.1:x", "http://127.0.0.1"}) {
    settings.address = address;
    auto sink = connect_mqtt(settings, [](const Status&) {});
    ASSERT_FALSE(sink);
    EXPECT_EQ(sink.error().code(), StatusCode::InvalidArgument);
  }
  settings.address = "127.0.0.1:" + std::to_string(free_port());
  auto sink = connect_mqtt(settings, [](const Status&) {});
  ASSERT_FALSE(sink);
  EXPECT_EQ(sink.error().code(), StatusCode::NotFound);
}

TEST(MessageMqtt, TlsChecksTheBrokersCertificate) {
  ScratchFolder folder;
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 "
      "-addext subjectAltName=IP:127.0.0.1 2>/dev/null -keyout ";
  const auto key_pair = [&](const std::string& name) {
    return std::system((make + folder.file(name + ".key") + " -out " + folder.file(name)).c_str());
  };
  if (key_pair("broker") != 0 || key_pair("other") != 0) GTEST_SKIP() << "openssl is not installed";
  Broker broker("allow_anonymous true\ncertfile " + folder.file("broker") + "\nkeyfile " +
                folder.file("broker.key") + "\n");
  BrokerSettings settings = broker.settings();
  settings.address = "ssl://" + settings.address;
  settings.ca_file = folder.file("broker");
  auto sink = connect_mqtt(settings, [](const Status&) {});
  EXPECT_TRUE(sink) << sink.error().message();
  settings.ca_file = folder.file("other");
  settings.connect_attempts = 1;
  EXPECT_FALSE(connect_mqtt(settings, [](const Status&) {}));
}

/// Ids of this process' threads and whether they hold SIGPIPE back.
std::map<std::string, bool> threads_without_sigpipe() {
  std::map<std::string, bool> threads;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    const std::string status = read_text((task.path() / "status").string());
    const size_t mask = status.find("SigBlk:");
    if (mask == std::string::npos) continue;
    const uint64_t blocked = std::stoull(status.substr(mask + 7), nullptr, 16);
    threads[task.path().filename().string()] = (blocked >> (SIGPIPE - 1) & 1) != 0;
  }
  return threads;
}

// With TLS the library writes to sockets whose peer has left.
TEST(MessageMqtt, APeerThatLeftDoesNotEndTheProcess) {
  Broker broker("allow_anonymous true\n");
  const auto before = threads_without_sigpipe();
  auto sink = connect_mqtt(broker.settings(), [](const Status&) {});
  ASSERT_TRUE(sink) << sink.error().message();
  int made = 0;
  for (const auto& [id, holds_back] : threads_without_sigpipe()) {
    if (before.contains(id)) {
      EXPECT_EQ(holds_back, before.at(id)) << "the application's own thread was changed";
      continue;
    }
    ++made;
    EXPECT_TRUE(holds_back);
  }
  EXPECT_GE(made, 1);
}

/// Plays 20 frames into the element with these properties.
std::string publish(const std::string& properties) {
  PipelineRun run(
      "videotestsrc num-buffers=20 ! heterometaconvert add-empty-results=true ! "
      "heterometapublish method=mqtt " +
      properties + " ! fakesink");
  return run.play().problem();
}

TEST(MessageMqtt, TheElementSignsInUnderItsName) {
  ScratchFolder folder;
  const std::string passwords = folder.file("passwords");
  if (std::system(("PATH=$PATH:/usr/sbin mosquitto_passwd -b -c " + passwords +
                   " camera right && chmod 644 " + passwords)
                      .c_str()) != 0) {
    GTEST_SKIP() << "mosquitto_passwd is not installed";
  }
  // Only the client "door" of the user "camera" may write to its topic; the broker drops the rest.
  write_text(folder.file("rights"), "topic read #\nuser camera\npattern write cameras/%c\n");
  Broker broker("allow_anonymous true\npassword_file " + passwords + "\nacl_file " +
                folder.file("rights") + "\n");
  Subscriber subscriber(broker.port(), "cameras/door");
  const std::string address =
      "max-connect-attempts=6 drain-timeout=60000 username=camera topic=cameras/door "
      "address=127.0.0.1:" +
      std::to_string(broker.port());
  EXPECT_NE(publish(address + " password=wrong mqtt-client-id=door").find("refuses user 'camera'"),
            std::string::npos);
  // Mosquitto 2.0.11 hangs up on who may not write: nothing is confirmed.
  publish(address + " password=right mqtt-client-id=window drain-timeout=100");
  EXPECT_EQ(publish(address + " password=right mqtt-client-id=door"), "");
  // Frames of one stream differ in their time, so that all are different messages.
  EXPECT_EQ(subscriber.wait_for(20), 20u);
  EXPECT_EQ(subscriber.received(), 20u) << "those of the other client were to be dropped";
  // The split element calls the same property client-id.
  PipelineRun split(
      "videotestsrc num-buffers=20 ! heterometaconvert add-empty-results=true source=split ! "
      "heterometapublishmqtt password=right client-id=door " +
      address + " ! fakesink");
  EXPECT_EQ(split.play().problem(), "");
  EXPECT_EQ(subscriber.wait_for(40), 40u);
}

TEST(MessageMqtt, AConfigFileWinsAndSaysHowTheBrokerIsChecked) {
  ScratchFolder folder;
  // An encrypted key for the client, a certificate for another host for the broker.
  const auto make = [&](const std::string& name, const std::string& host, const char* key) {
    return std::system(("openssl req -x509 -newkey rsa:2048 -days 2 -subj /CN=" + host +
                        " -addext subjectAltName=DNS:" + host + " " + key + " -keyout " +
                        folder.file(name + ".key") + " -out " + folder.file(name) + " 2>/dev/null")
                           .c_str());
  };
  if (make("broker", "elsewhere", "-nodes") != 0 ||
      make("client", "client", "-passout pass:key") != 0)
    GTEST_SKIP() << "openssl is not installed";
  Broker broker("allow_anonymous true\ncertfile " + folder.file("broker") + "\nkeyfile " +
                folder.file("broker.key") + "\ncafile " + folder.file("client") +
                "\nrequire_certificate true\n");
  const auto problem = [&](const std::string& more, const std::string& attempts = "1") {
    write_text(folder.file("mqtt.json"),
               "{\"address\": \"127.0.0.1:" + std::to_string(broker.port()) +
                   "\", \"topic\": \"frames\", \"client-id\": null, \"TLS\": true, "
                   "\"max-connect-attempts\": " +
                   attempts +
                   ", \"max-reconnect-interval\": 1, "
                   "\"ssl_client_certificate\": \"" +
                   folder.file("client") + "\", \"ssl_private_key\": \"" +
                   folder.file("client.key") + "\", \"ssl_private_key_pwd\": \"key\"" + more + "}");
    PipelineRun run(
        "videotestsrc num-buffers=20 ! heterometaconvert add-empty-results=true ! "
        "heterometapublishmqtt address=absent:1 topic=none drain-timeout=60000 mqtt-config=" +
        folder.file("mqtt.json") + " ! fakesink");
    return run.play().problem();
  };
  const std::string authority = ", \"ssl_CA_certificate\": \"" + folder.file("broker") + "\"";
  EXPECT_EQ(problem(authority + ", \"ssl_verify\": 0", "6"), "") << "the host is not checked";
  EXPECT_NE(problem(authority), "") << "the certificate is elsewhere's";
  EXPECT_NE(problem(", \"ssl_verify\": 0"), "") << "nobody known has signed it";
  EXPECT_EQ(problem(", \"ssl_verify\": 0, \"ssl_enable_server_cert_auth\": 0"), "");
}

TEST(MessageMqtt, TheSplitElementSendsAMessageAFrame) {
  Broker broker;
  Subscriber subscriber(broker.port());
  PipelineRun run(
      "videotestsrc num-buffers=20 ! heterometaconvert add-empty-results=true ! "
      "heterometapublishmqtt topic=frames max-connect-attempts=6 "
      "drain-timeout=60000 address=127.0.0.1:" +
      std::to_string(broker.port()) + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  EXPECT_EQ(subscriber.wait_for(20), 20u);
}

TEST(MessageMqtt, TheElementWaitsForABrokerThatComesLater) {
  Broker broker;
  broker.stop();
  const std::string address =
      "topic=frames drain-timeout=60000 address=127.0.0.1:" + std::to_string(broker.port());
  EXPECT_NE(publish(address + " max-connect-attempts=1").find("after 1 attempts"),
            std::string::npos);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(1500));
    broker.start();
  });
  EXPECT_EQ(publish(address + " max-connect-attempts=8 max-reconnect-interval=1"), "");
  later.join();
}

/// 1, 2, 4 s ... without a limit.
TEST(MessageMqtt, TheTimeBetweenAttemptsGrowsToItsLimit) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string problem =
      publish("topic=frames max-connect-attempts=4 max-reconnect-interval=1 address=127.0.0.1:" +
              std::to_string(free_port()));
  const auto time = std::chrono::steady_clock::now() - begin;
  EXPECT_NE(problem.find("after 4 attempts"), std::string::npos) << problem;
  EXPECT_GE(time, std::chrono::seconds(3));
  EXPECT_LT(time, std::chrono::seconds(7)) << "the third pause was longer than the limit";
}

TEST(MessageMqtt, AKilledBrokerLosesNothing) {
  Broker broker;
  BrokerSettings settings = broker.settings();
  auto sink = connect_mqtt(settings, [](const Status&) {});
  ASSERT_TRUE(sink) << sink.error().message();
  for (int i = 0; i < 100; ++i) EXPECT_TRUE((*sink)->write(std::to_string(i)).ok());
  broker.stop(SIGKILL);
  for (int i = 100; i < 200; ++i) EXPECT_TRUE((*sink)->write(std::to_string(i)).ok());
  broker.start();
  const gst::MessageCounts counts = (*sink)->close();
  EXPECT_EQ(counts.delivered, 200u) << "confirmed by a broker";
  EXPECT_EQ(counts.dropped, 0u);
}

TEST(MessageMqtt, EveryQualityOfServiceCountsWhatHasArrived) {
  Broker broker;
  for (const int qos : {0, 1, 2}) {
    SCOPED_TRACE(qos);
    BrokerSettings settings = broker.settings();
    settings.qos = qos;
    auto sink = connect_mqtt(settings, [](const Status&) {});
    ASSERT_TRUE(sink) << sink.error().message();
    for (int i = 0; i < 50; ++i) EXPECT_TRUE((*sink)->write(std::to_string(i)).ok());
    EXPECT_EQ((*sink)->close().delivered, 50u);
  }
}

}  // namespace
}  // namespace het::gst_test
