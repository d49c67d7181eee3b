#pragma once

#include <memory>
#include <string>
#include <thread>

#include "inference/base/status.h"
#include "serving/metrics/http/connections.h"
#include "serving/metrics/http/listen_socket.h"

namespace het::metrics {

/// Answers on a thread of its own until its end. Where the process forks, the child does not serve.
class HttpServer {
 public:
  /// `told` is called on the server's thread.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, uint16_t port,
                                                   Told told);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  const std::string& url() const { return socket_.url; }
  /// In the child of a fork, which has no such thread: closes what it has of the server, so that
  /// the port does not outlive the parent. Only async-signal-safe calls.
  void forget_in_child();

 private:
  HttpServer(ListenSocket socket, Told told) : socket_(std::move(socket)), told_(std::move(told)) {}
  void serve();

  const ListenSocket socket_;
  const Told told_;
  int wake_ = -1;  ///< an eventfd: the end has come
  bool is_in_child_ = false;
  std::unique_ptr<Connections> connections_;
  std::thread thread_;
};

}  // namespace het::metrics
