#pragma once

#include <memory>

#include "inference/base/status.h"
#include "serving/metrics/http/answer.h"

struct MHD_Daemon;

namespace het::metrics {

/// Answers connections by libmicrohttpd, within bounds: how many, of one address, their memory, and
/// the time from a connection or an answer to the end of the next request. Thread-bound.
class Connections {
 public:
  /// They come to `listen_fd`, which is taken over; -1: only by take(). `told` outlives this.
  static Result<std::unique_ptr<Connections>> create(int listen_fd, const Told& told);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Readable when there is something to do.
  int fd() const;
  /// Does what can be done at once, and closes what is too slow.
  void run();
  /// When to call run() though nothing can be read; -1: never.
  int most_wait_ms() const;
  /// One more, which is connected; the socket is taken over.
  Status take(int socket);

  struct Open;

 private:
  explicit Connections(const Told& told);
  std::unique_ptr<Open> open_;
  MHD_Daemon* daemon_ = nullptr;
};

}  // namespace het::metrics
