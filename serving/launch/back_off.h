#pragma once

#include <cstddef>
#include <optional>

namespace het::serving {

/// How long to wait before something that has ended is started again: `first_s` seconds, twice as
/// long after each further failure, at most `longest_s`. What has run for `stable_s` counts as
/// well again. Nothing is started again after `most` failures in a row; 0: never.
struct BackOff {
  double first_s = 1;
  double longest_s = 60;
  double stable_s = 60;
  size_t most = 10;
  bool operator==(const BackOff&) const = default;
};

/// Counts the failures in a row of one thing that is started again after them. Thread-compatible.
class Retry {
 public:
  explicit Retry(const BackOff& back_off) : back_off_(back_off) {}

  /// Something has failed, after it had run for so long.
  void succeeded_for(double seconds);
  /// Counts a failure: seconds to wait before the next start; nothing when it was the last one.
  std::optional<double> next();
  /// Failures in a row so far.
  size_t failures() const { return failures_; }

 private:
  BackOff back_off_;
  size_t failures_ = 0;
};

}  // namespace het::serving
