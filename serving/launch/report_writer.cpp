#include "serving/launch/report_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <variant>

namespace het::serving {
namespace {

/// Lines that a reader who does not read may leave here.
constexpr size_t kMostPending = size_t{4} << 20;

}  // namespace

ReportWriter::ReportWriter(int fd) : fd_(fd) {
  const int flags = fcntl(fd_, F_GETFL);
  if (flags >= 0) fcntl(fd_, F_SETFL, flags | O_NONBLOCK);
}

ReportWriter::~ReportWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void ReportWriter::write(const Report& report) {
  if (fd_ < 0) return;
  write_pending();
  const bool is_progress = std::holds_alternative<Progress>(report.content);
  if (!pending_.empty() && is_progress) return;
  if (pending_.size() > kMostPending) return;
  pending_ += report.to_line();
  write_pending();
}

void ReportWriter::write_pending() {
  while (fd_ >= 0 && !pending_.empty()) {
    const ssize_t written = ::write(fd_, pending_.data(), pending_.size());
    if (written >= 0) {
      pending_.erase(0, static_cast<size_t>(written));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return;
    } else if (errno != EINTR) {
      ::close(fd_);
      fd_ = -1;
      pending_.clear();
    }
  }
}

void ReportWriter::close(double timeout_s) {
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::duration<double>(timeout_s);
  write_pending();
  while (fd_ >= 0 && !pending_.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(limit - Clock::now());
    if (left.count() <= 0) break;
    pollfd wanted = {fd_, POLLOUT, 0};
    poll(&wanted, 1, static_cast<int>(left.count()) + 1);
    write_pending();
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace het::serving
