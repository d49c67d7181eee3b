#include "serving/metrics/http/http_server.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace het::metrics {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

Told told() {
  return {[](TextFormat) { return std::string(100000, 'm'); }, [] { return "no pipeline plays"; }};
}

class ServerOfTest : public testing::Test {
 protected:
  void SetUp() override {
    auto started = HttpServer::start("127.0.0.1", 0, told());
    ASSERT_TRUE(started) << started.error().message();
    server_ = std::move(*started);
    port_ = static_cast<uint16_t>(
        std::stoul(server_->url().substr(std::string("http://127.0.0.1:").size())));
  }

  /// A connection; -1 where it is refused.
  int connect() const {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return fd;
    ::close(fd);
    return -1;
  }

  /// Everything that comes back until the server closes.
  std::string ask(const std::string& request) const {
    const int fd = connect();
    if (fd < 0) return "";
    ::send(fd, request.data(), request.size(), MSG_NOSIGNAL);
    std::string answer;
    std::array<char, 4096> bytes;
    for (ssize_t count = 0; (count = ::recv(fd, bytes.data(), bytes.size(), 0)) > 0;)
      answer.append(bytes.data(), static_cast<size_t>(count));
    ::close(fd);
    return answer;
  }

  std::unique_ptr<HttpServer> server_;
  uint16_t port_ = 0;
};

constexpr const char* kGet = "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";

TEST_F(ServerOfTest, AnswersAsHttp) {
  const std::string metrics = ask(kGet);
  EXPECT_THAT(metrics, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(metrics, HasSubstr("Content-Length: 100000\r\n"));
  EXPECT_THAT(metrics, EndsWith("\r\n\r\n" + std::string(100000, 'm')));
  const std::string head = ask("HEAD /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(head, HasSubstr("Content-Length: 100000\r\n"));
  EXPECT_THAT(head, EndsWith("\r\n\r\n"));
  const std::string ready = ask("GET /health/ready HTTP/1.0\r\n\r\n");
  EXPECT_THAT(ready, HasSubstr(" 503 "));
  EXPECT_THAT(ready, EndsWith("not ready: no pipeline plays\n"));
  const std::string post = ask("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n");
  EXPECT_THAT(post, HasSubstr(" 405 "));
  EXPECT_THAT(post, HasSubstr("Allow: GET, HEAD\r\n"));
  // Some versions say 400 before they close.
  EXPECT_THAT(ask("nonsense\r\n\r\n"), testing::AnyOf("", HasSubstr(" 400 ")));
}

TEST_F(ServerOfTest, HeadersBeyondItsMemoryAreRefused) {
  const std::string answer =
      ask("GET /metrics HTTP/1.1\r\nX: " + std::string(60000, 'x') + "\r\n\r\n");
  EXPECT_THAT(answer, testing::AnyOf(HasSubstr(" 431 "), HasSubstr(" 413 "), ""));
  EXPECT_THAT(ask(kGet), HasSubstr(" 200 "));
}

TEST_F(ServerOfTest, ManyAskAtOnce) {
  std::atomic<int> right = 0;
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 8; ++reader) {
    readers.emplace_back([&] {
      for (int i = 0; i < 25; ++i) right += ask(kGet).size() > 100000 ? 1 : 0;
    });
  }
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(right, 200);
}

TEST_F(ServerOfTest, EndsWithConnectionsThatAreOpen) {
  std::vector<int> open;
  for (int i = 0; i < 10; ++i) {
    open.push_back(connect());
    ::send(open.back(), "GET /met", 8, MSG_NOSIGNAL);
  }
  EXPECT_THAT(ask(kGet), HasSubstr(" 200 "));
  server_.reset();
  EXPECT_EQ(connect(), -1);
  for (const int fd : open) ::close(fd);
}

TEST_F(ServerOfTest, APortThatIsTakenIsSaid) {
  const auto second = HttpServer::start("127.0.0.1", port_, told());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message(), HasSubstr("another process serves there; give port=0"));
  const auto nowhere = HttpServer::start("here", 0, told());
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().message(), StartsWith("'here' is no address: "));
}

TEST(HttpServer, ServesAtAnAddressOfTheNewerKind) {
  const auto server = HttpServer::start("::1", 0, told());
  if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().message();
  EXPECT_THAT((*server)->url(), StartsWith("http://[::1]:"));
}

TEST_F(ServerOfTest, AChildLetsGoOfThePort) {
  const pid_t child = ::fork();
  if (child == 0) {
    server_->forget_in_child();
    server_.reset();
    ::_exit(0);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_THAT(ask(kGet), HasSubstr(" 200 "));
}

}  // namespace
}  // namespace het::metrics
