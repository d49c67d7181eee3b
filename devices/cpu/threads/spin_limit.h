#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>

namespace het::cpu {

/// Keeps the threads of teams from taking time from each other where other programs use the same
/// cores. libgomp's threads look for their next part of work for milliseconds before they sleep:
/// that is the fastest way while the cores are theirs, but when another program takes the place of
/// one of them, the others burn what it waits for. libgomp looks a few microseconds only while it
/// has more threads than the process has processors, and has no other switch at run time; so
/// threads that do nothing but sleep are added for as long as others take much of a thread's time.
/// Thread-safe; one per device.
class SpinLimit {
 public:
  SpinLimit();
  ~SpinLimit();
  SpinLimit(const SpinLimit&) = delete;
  SpinLimit& operator=(const SpinLimit&) = delete;

  /// Called on a stream's thread after an execution. Every kPeriod asks the team how long its
  /// threads were ready to run while others ran. Costs nothing for teams of one.
  void observe_team();

  /// True while waiting is short.
  bool is_short() const;

  static constexpr std::chrono::milliseconds kPeriod{100};
  /// The part of a thread's time in a period. Whoever waits for results takes some of it, and the
  /// system a few milliseconds now and then.
  static constexpr double kCrowded = 0.2;
  /// Waiting is short for so long after the last crowded period.
  static constexpr std::chrono::seconds kAfter{1};

 private:
  class IdleTeam;
  using Time = std::chrono::steady_clock::time_point;

  void decide(Time now, double kept_waiting);

  mutable std::mutex mutex_;  ///< protects what follows; taken alone
  std::unique_ptr<IdleTeam> idle_;
  Time last_crowded_;
};

}  // namespace het::cpu
