#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/vpu/fair_queue.h"

namespace het::vpu {

/// A unit that may execute something; the largest priority is preferred.
struct UnitChoice {
  uint32_t unit = 0;
  int32_t priority = 0;
};
using UnitChoices = std::shared_ptr<const std::vector<UnitChoice>>;

/// What executes: each unit one job at a time. Flows (a host's streams) take turns. No threads of
/// its own; thread-safe.
class Units {
 public:
  /// Begins a job on the unit and returns; end() follows, perhaps within. Must not block.
  using Start = std::function<void(uint32_t unit)>;
  explicit Units(uint32_t count) : units_(count) {}

  /// Starts the job when one of its units is free, now or within somebody's end().
  void add(const std::string& flow, UnitChoices choices, Start start);
  /// The unit's job has ended.
  void end(uint32_t unit);

  struct Load {
    uint64_t executions = 0;
    double utilisation = 0.0;  ///< of the last second or two
  };
  std::vector<Load> loads();

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    UnitChoices choices;
    Start start;
  };
  struct Unit {
    bool is_busy = false;
    Clock::time_point since;
    Clock::duration busy{0};
    uint64_t executions = 0;
  };
  struct Snapshot {
    Clock::time_point when = Clock::now();
    std::vector<Clock::duration> busy;
  };
  void dispatch();
  const UnitChoice* idle(const Job& job) const;
  Clock::duration busy_until(const Unit& unit, Clock::time_point now) const;

  std::mutex mutex_;  ///< protects what follows; taken alone
  std::vector<Unit> units_;
  FairQueue<std::shared_ptr<Job>> jobs_;
  bool is_dispatching_ = false;
  Snapshot before_;
  Snapshot latest_;
};

}  // namespace het::vpu
