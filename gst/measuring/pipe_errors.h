#pragma once

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace het::gst {

/// While it lives, a reader or peer who has left makes writing fail instead of ending the process:
/// SIGPIPE is held back in this thread, and taken away if it came from here. Threads that are made
/// meanwhile hold it back for good.
class PipeErrors {
 public:
  PipeErrors() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeErrors() {
    const int error = errno;
    constexpr timespec kNow = {};
    while (!was_pending_ && sigtimedwait(&pipe_, nullptr, &kNow) == -1 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  PipeErrors(const PipeErrors&) = delete;
  PipeErrors& operator=(const PipeErrors&) = delete;

 private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

}  // namespace het::gst
