#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace het {

/// How far a run is, on standard error: one line that is written over on a terminal, a line now and
/// then elsewhere. The line of a terminal is gone when it ends. Thread-bound.
class ProgressLine {
 public:
  /// `done` of `all` were done before.
  ProgressLine(std::string title, size_t done, size_t all);
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(size_t done);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string title_;
  size_t first_;
  size_t all_;
  bool is_terminal_;
  bool is_shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = Clock::now();
};

}  // namespace het
