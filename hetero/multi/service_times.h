#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <optional>

namespace het::hetero {

/// How long executions on one device take: the median of the last kSamples, apart for each number
/// of executions that were running there when one began. Allocates nothing; thread-compatible.
class ServiceTimes {
 public:
  using Duration = std::chrono::nanoseconds;
  static constexpr size_t kSamples = 5;
  /// This many others and more count as the same.
  static constexpr size_t kMostOthers = 7;

  /// An execution that began beside `others` took this long.
  void add(size_t others, Duration time);
  /// Of an execution that begins beside `others`; empty before one of these has ended.
  std::optional<Duration> expected(size_t others) const;

 private:
  struct Recent {
    std::array<Duration, kSamples> times{};
    size_t count = 0;
    Duration median{0};
  };
  std::array<Recent, kMostOthers + 1> recent_;
};

}  // namespace het::hetero
