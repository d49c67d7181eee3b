#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hetero/execution/plan_mix.h"
#include "hetero/members/device_events.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"

namespace het::hetero {

/// Whether an execution may be run again on other devices after this error: the device is to blame,
/// not what it was given.
bool blames_device(const Status& status);

/// Devices that a plan does without, each with the cause of its loss.
using LostDevices = std::map<std::string, std::string>;

/// The plans of a compiled model while devices fail and return. Thread-safe.
class FailOver {
 public:
  /// Plans without these devices; those that fail on the way are added. Called by one thread at a
  /// time.
  using Replan = std::function<Result<std::shared_ptr<const PlanMix>>(LostDevices& lost)>;
  /// Runs a plan once, with any input.
  using Probe = std::function<Status(const std::shared_ptr<const PlanMix>& plan)>;
  /// Per subgraph a model with the same ports.
  using Substitutes = std::map<size_t, std::shared_ptr<CompiledModel>>;
  /// Compiles these subgraphs of a plan for the devices that are left.
  using Substitute = std::function<Result<Substitutes>(
      const HeteroPlan& plan, const std::vector<size_t>& subgraphs, const LostDevices& lost)>;
  /// Whether the plan still fits what its subgraphs take; null: it stays. Called by one thread at a
  /// time, while no device is lost.
  using Judge =
      std::function<Result<std::shared_ptr<const PlanMix>>(const std::shared_ptr<const PlanMix>&)>;
  struct Parts {
    std::shared_ptr<const PlanMix> plan;
    LostDevices lost;  ///< that `plan` does without
    Replan replan;
    Probe probe;
    Substitute substitute;
    std::shared_ptr<DeviceEvents> events;
    /// A lost device is tried again so long after it failed, then in growing intervals; never when
    /// that is zero.
    std::chrono::milliseconds retry{0};
    Judge judge;
    std::chrono::milliseconds judge_every{0};  ///< zero: never
  };

  static Result<std::unique_ptr<FailOver>> create(Parts parts);
  ~FailOver();

  std::shared_ptr<const PlanMix> plan() const;
  /// Grows with every change of the plan.
  uint64_t version() const { return version_; }

  /// Queues work that plans or makes requests, which nobody does on a device's thread.
  void submit(StreamJob& job) { threads_->submit(job); }
  /// The device failed with this in an execution of a plan that was taken at `version`: from now on
  /// the plan does without it. One event for each loss. Fails with `cause` where the model cannot
  /// run without the device. Takes as long as a compile.
  Status lose(const std::string& device, uint64_t version, const Status& cause);
  /// For executions of a plan that was taken at `version`: what takes the place of those of these
  /// subgraphs whose device failed or has been lost since. Takes as long as a compile.
  Result<Substitutes> substitutes(const HeteroPlan& plan, uint64_t version,
                                  const std::vector<size_t>& subgraphs,
                                  const std::string& failed_device);
  /// Begins to try lost devices again, or to judge the plan, when it is time. Never waits.
  void look_after_plan();

 private:
  class ReturnJob;
  class JudgeJob;
  explicit FailOver(Parts parts);
  void try_return();
  void judge();
  /// Under planning_: the plan that does without these devices only, and works.
  Result<std::shared_ptr<const PlanMix>> plan_without_only(const LostDevices& lost) const;
  /// Under planning_.
  void change(std::shared_ptr<const PlanMix> plan, LostDevices lost);
  void retry_later();

  const Replan replan_;
  const Probe probe_;
  const Substitute substitute_;
  const std::shared_ptr<DeviceEvents> events_;
  const std::chrono::milliseconds retry_;
  const Judge judge_;
  const std::chrono::milliseconds judge_every_;
  std::atomic<uint64_t> version_ = 0;
  std::atomic<int64_t> due_ns_;        ///< steady clock; the largest value: nothing to retry
  std::atomic<int64_t> judge_due_ns_;  ///< the same
  std::mutex planning_;                ///< protects the next four, serialises plans; before mutex_
  LostDevices lost_;
  std::map<std::string, uint64_t> lost_at_;  ///< the version since which there was no such device
  std::chrono::milliseconds pause_;          ///< until the next try
  /// For those executions that go on beside others; they keep the plan, too.
  std::map<std::pair<const HeteroPlan*, size_t>, std::weak_ptr<CompiledModel>> substitutes_;
  mutable std::mutex mutex_;  ///< protects plan_; taken last
  std::shared_ptr<const PlanMix> plan_;
  std::unique_ptr<ReturnJob> return_job_;
  std::unique_ptr<JudgeJob> judge_job_;
  std::unique_ptr<StreamExecutor> threads_;  // last: its threads use everything else
};

}  // namespace het::hetero
