#include "serving/metrics/http/http_server.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace het::metrics {
namespace {

/// Signals are for the threads that were there before.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, uint16_t port,
                                                      Told told) {
  HET_ASSIGN(ListenSocket socket, listen_at(address, port));
  std::unique_ptr<HttpServer> server(new HttpServer(std::move(socket), std::move(told)));
  HET_ASSIGN(server->connections_, Connections::create(server->socket_.fd, server->told_));
  server->wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (server->wake_ < 0) {
    return error(StatusCode::Internal, "cannot serve metrics: eventfd fails: {}",
                 std::strerror(errno));
  }
  const BlockedSignals blocked;
  try {
    server->thread_ = std::thread([raw = server.get()] { raw->serve(); });
  } catch (const std::system_error& problem) {
    return error(StatusCode::Internal, "cannot start a thread that serves metrics: {}",
                 problem.what());
  }
  return server;
}

void HttpServer::serve() {
  pthread_setname_np(pthread_self(), "hetero:metrics");
  while (true) {
    std::array<pollfd, 2> polled = {pollfd{connections_->fd(), POLLIN, 0},
                                    pollfd{wake_, POLLIN, 0}};
    ::poll(polled.data(), polled.size(), connections_->most_wait_ms());
    if (polled[1].revents != 0) return;
    connections_->run();
  }
}

HttpServer::~HttpServer() {
  if (is_in_child_) {
    // The thread is the parent's, and so are the locks that it may have held.
    if (thread_.joinable()) thread_.detach();
    static_cast<void>(connections_.release());
    return;
  }
  if (thread_.joinable()) {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_, &one, sizeof one);
    thread_.join();
  }
  connections_.reset();
  if (wake_ >= 0) ::close(wake_);
}

void HttpServer::forget_in_child() {
  is_in_child_ = true;
  ::close(socket_.fd);
  if (wake_ >= 0) ::close(wake_);
}

}  // namespace het::metrics
