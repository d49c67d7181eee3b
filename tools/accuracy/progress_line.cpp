#include "tools/accuracy/progress_line.h"

#include <unistd.h>

#include <cstdio>

namespace het {
namespace {

constexpr double kTerminalSeconds = 0.1;
constexpr double kOtherSeconds = 10.0;

}  // namespace

ProgressLine::ProgressLine(std::string title, size_t done, size_t all)
    : title_(std::move(title)), first_(done), all_(all), is_terminal_(isatty(STDERR_FILENO) == 1) {}

void ProgressLine::show(size_t done) {
  const Clock::time_point now = Clock::now();
  const double since = std::chrono::duration<double>(now - shown_).count();
  if (since < (is_terminal_ ? kTerminalSeconds : kOtherSeconds)) return;
  shown_ = now;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(done - first_) / seconds;
  const double left = rate > 0.0 ? static_cast<double>(all_ - done) / rate : 0.0;
  std::fprintf(stderr, "%s%s: %zu of %zu pictures, %.1f/s, %.0f s left%s",
               is_terminal_ ? "\r\033[K" : "", title_.c_str(), done, all_, rate, left,
               is_terminal_ ? "" : "\n");
  std::fflush(stderr);
  is_shown_ = true;
}

void ProgressLine::clear() {
  if (is_shown_ && is_terminal_) std::fputs("\r\033[K", stderr);
  is_shown_ = false;
}

}  // namespace het
