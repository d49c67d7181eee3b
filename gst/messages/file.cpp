#include "file.h"

#include <pthread.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <utility>

namespace het::gst {
namespace {

/// While it lives, a reader who has left makes writing fail instead of ending the process: SIGPIPE
/// is held back in this thread, and taken away if it came from here.
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

}  // namespace

Result<std::unique_ptr<MessageFile>> MessageFile::open(const std::string& path,
                                                       MessageFileFormat format) {
  std::FILE* file = path.empty() ? stdout : std::fopen(path.c_str(), "we");
  if (!file) {
    return error(StatusCode::NotFound,
                 "cannot write messages to '{}': {}; set file-path to a file in an existing, "
                 "writable folder",
                 path, std::strerror(errno));
  }
  return std::unique_ptr<MessageFile>(new MessageFile(path, format, file));
}

MessageCounts MessageFile::close() {
  std::FILE* const file = std::exchange(file_, nullptr);
  if (!file) return counts();
  const PipeErrors pipe_errors;
  if (format_ == MessageFileFormat::Json) std::fputs(empty_ ? "[]\n" : "]\n", file);
  std::fflush(file);
  if (file != stdout) std::fclose(file);
  return counts();
}

Status MessageFile::write(const std::string& message) {
  const PipeErrors pipe_errors;
  const bool lines = format_ == MessageFileFormat::JsonLines;
  const char* before = lines ? "" : empty_ ? "[" : ",\n";
  empty_ = false;
  std::fputs(before, file_);
  std::fwrite(message.data(), 1, message.size(), file_);
  if (lines) std::fputc('\n', file_);
  if (std::fflush(file_) != 0 || std::ferror(file_)) {
    return error(StatusCode::Internal, "cannot write to '{}': {}",
                 path_.empty() ? "standard output" : path_, std::strerror(errno));
  }
  ++written_;
  return {};
}

}  // namespace het::gst
