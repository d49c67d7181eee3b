#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace het::gst {

/// What lines say besides frames per second, in lines of their own.
struct FpsExtras {
  bool deviation = false;  ///< standard deviation of the times between frames of a stream
  bool latency = false;    ///< mean age of frames, where it is known
  auto operator<=>(const FpsExtras&) const = default;
};

/// Counts the frames of the streams of a process, as gvafpscounter does. Times are passed in, so
/// that a test can choose them. Thread-safe.
class FpsMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The meter that all counters of the process with this interval and starting frame share; made
  /// for the first of them, freed with the last.
  static std::shared_ptr<FpsMeter> shared(unsigned interval_s, unsigned starting_frame,
                                          FpsExtras extras = {});

  /// Prints every `interval_s` seconds; each stream's first `starting_frame` frames do not count.
  FpsMeter(unsigned interval_s, unsigned starting_frame, FpsExtras extras = {})
      : interval_(interval_s), starting_frame_(starting_frame), extras_(extras) {}

  /// Lines for the user when an interval is over. `age_ms` is how long ago the frame was taken.
  std::optional<std::string> frame(const std::string& stream, Time now,
                                   std::optional<double> age_ms = std::nullopt);
  /// A stream has ended. The line about the whole run comes with the end of the last one.
  std::optional<std::string> end(const std::string& stream, Time now);
  /// Frames per second of a stream since its first counted frame.
  double average_fps(const std::string& stream, Time now) const;

 private:
  /// Values in ms whose mean and deviation are wanted.
  struct Spread {
    void add(double value);
    void add(const Spread& other);
    double mean() const { return count > 0 ? sum / static_cast<double>(count) : 0.0; }
    double deviation() const;
    uint64_t count = 0;
    double sum = 0.0;
    double squares = 0.0;
  };
  struct Spreads {
    Spread distances;
    Spread ages;
  };
  struct Stream {
    uint64_t seen = 0;
    uint64_t counted = 0;
    uint64_t in_interval = 0;
    Time first;
    Time last;
    bool ended = false;
    Spreads of_interval;
    Spreads of_run;
  };
  enum class Span { Interval, Overall };
  std::string line(Span span, double seconds) const;
  std::string extra_line(const std::string& title, Span span, Spread Spreads::*spread,
                         double (Spread::*value)() const) const;

  const std::chrono::seconds interval_;
  const unsigned starting_frame_;
  const FpsExtras extras_;
  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  std::map<std::string, Stream> streams_;
  std::optional<Time> begin_;
  Time interval_begin_;
};

}  // namespace het::gst
