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
/// threads that do nothing but sleep are added for as long as executions are interrupted.
/// Thread-safe; one per device.
class SpinLimit {
 public:
  SpinLimit();
  ~SpinLimit();
  SpinLimit(const SpinLimit&) = delete;
  SpinLimit& operator=(const SpinLimit&) = delete;

  /// Called on a stream's thread after an execution. Every kPeriod asks the team how often its
  /// threads had to give up their processors. Costs nothing for teams of one.
  void observe_team();

  /// True while waiting is short.
  bool is_short() const;

  static constexpr std::chrono::milliseconds kPeriod{20};
  /// Interruptions of a team a second.
  static constexpr double kCrowded = 50.0;
  /// Waiting is short for so long after the last crowded period.
  static constexpr std::chrono::seconds kAfter{2};

 private:
  class IdleTeam;
  using Time = std::chrono::steady_clock::time_point;

  void decide(Time now, double interruptions);

  mutable std::mutex mutex_;  ///< protects what follows; taken alone
  std::unique_ptr<IdleTeam> idle_;
  Time last_crowded_;
};

}  // namespace het::cpu
