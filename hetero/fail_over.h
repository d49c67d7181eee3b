#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "hetero/plan_mix.h"
#include "inference/status.h"
#include "inference/stream_executor.h"

namespace het::hetero {

/// Whether an execution may be run again on other devices after this error: the device is to blame,
/// not what it was given.
bool blames_device(const Status& status);

/// The plans of a compiled model while devices fail and return. Thread-safe.
class FailOver {
 public:
  /// Plans without these devices; those that fail on the way are added. Called by one thread at a
  /// time.
  using Replan = std::function<Result<std::shared_ptr<const PlanMix>>(std::set<std::string>& lost)>;
  /// Runs a plan once, with any input.
  using Probe = std::function<Status(const std::shared_ptr<const PlanMix>& plan)>;

  /// A lost device is tried again `retry` after it failed; never when that is zero.
  static Result<std::unique_ptr<FailOver>> create(std::shared_ptr<const PlanMix> first,
                                                  Replan replan, Probe probe,
                                                  std::chrono::milliseconds retry);
  ~FailOver();

  std::shared_ptr<const PlanMix> plan() const;
  /// Grows with every change of the plan.
  uint64_t version() const { return version_; }

  /// Queues work that plans or makes requests, which nobody does on a device's thread.
  void submit(StreamJob& job) { threads_->submit(job); }
  /// The device failed with this in an execution of `used`: from now on the plan does without it.
  /// Warns once for each loss. Fails with `cause` where the model cannot run without the device.
  /// Takes as long as a compile.
  Status lose(const std::string& device, const HeteroPlan& used, const Status& cause);
  /// Begins to try lost devices again when it is time. Never waits.
  void retry_if_due();

 private:
  class ReturnJob;
  FailOver(std::shared_ptr<const PlanMix> first, Replan replan, Probe probe,
           std::chrono::milliseconds retry);
  void try_return();

  const Replan replan_;
  const Probe probe_;
  const std::chrono::milliseconds retry_;
  std::atomic<uint64_t> version_ = 0;
  std::atomic<int64_t> due_ns_;  ///< steady clock; the largest value: nothing to retry
  std::mutex planning_;          ///< protects lost_, serialises plans; before mutex_
  std::set<std::string> lost_;
  mutable std::mutex mutex_;  ///< protects plan_; taken last
  std::shared_ptr<const PlanMix> plan_;
  std::unique_ptr<ReturnJob> return_job_;
  std::unique_ptr<StreamExecutor> threads_;  // last: its threads use everything else
};

}  // namespace het::hetero
