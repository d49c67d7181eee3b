#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace het::gst {

/// Counts the frames of the streams of a process, as gvafpscounter does. Times are passed in, so
/// that a test can choose them. Thread-safe.
class FpsMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The meter that all counters of the process with this interval and starting frame share; made
  /// for the first of them, freed with the last.
  static std::shared_ptr<FpsMeter> shared(unsigned interval_s, unsigned starting_frame);

  /// Prints every `interval_s` seconds; each stream's first `starting_frame` frames do not count.
  FpsMeter(unsigned interval_s, unsigned starting_frame)
      : interval_(interval_s), starting_frame_(starting_frame) {}

  /// A line for the user when an interval is over.
  std::optional<std::string> frame(const std::string& stream, Time now);
  /// A stream has ended. The line about the whole run comes with the end of the last one.
  std::optional<std::string> end(const std::string& stream, Time now);
  /// Frames per second of a stream since its first counted frame.
  double average_fps(const std::string& stream, Time now) const;

 private:
  struct Stream {
    uint64_t seen = 0;
    uint64_t counted = 0;
    uint64_t in_interval = 0;
    Time first;
    Time last;
    bool ended = false;
  };
  enum class Span { Interval, Overall };
  std::string line(Span span, double seconds) const;

  const std::chrono::seconds interval_;
  const unsigned starting_frame_;
  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  std::map<std::string, Stream> streams_;
  std::optional<Time> begin_;
  Time interval_begin_;
};

}  // namespace het::gst
