#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hetero/execution/fail_over.h"
#include "hetero/execution/hetero_compiled_model.h"
#include "hetero/execution/hetero_execution.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"

namespace het::hetero {

/// A request of a HETERO model: runs a plan and, where a device fails, goes on behind what the host
/// has, with others in the device's place; from the start by a new plan where it has nothing.
/// Nobody but the thread of FailOver makes executions.
class HeteroRequest final : public DeviceRequest, private CompletionSink, private StreamJob {
 public:
  static Result<std::unique_ptr<HeteroRequest>> create(const HeteroCompiledModel& model);
  ~HeteroRequest() override;

  void start(RequestIo& io, CompletionSink& sink) override;
  void cancel() override;
  std::vector<ProfileRow> profiling() const override { return execution_->profiling(); }
  Tensor own_input(size_t index) const override { return executions_[0]->own_input(index); }
  Tensor own_output(size_t index) const override { return executions_[0]->own_output(index); }

 private:
  explicit HeteroRequest(const HeteroCompiledModel& model);
  /// Of the execution.
  void complete(Status status) override;
  /// On FailOver's thread: another plan, then the execution.
  void run(size_t stream) override;
  Status change_plan();
  /// After a failure: other requests in the execution, which then `resumes`, or its pictures back.
  Status recover(const Status& failure, bool& resumes);
  Status replace_lost();
  /// Of every way of the plan; errors say whose device failed.
  Result<std::vector<std::unique_ptr<HeteroExecution>>> make_executions(
      const PlanMix& plan, std::string& failed_device) const;
  /// The next execution, on the way whose turn it is.
  void begin();
  void finish(Status status);

  const HeteroCompiledModel& model_;
  FailOver* const fail_over_;  ///< null: errors are final
  uint64_t version_ = 0;       ///< at which plan_ was taken
  RequestIo* io_ = nullptr;
  CompletionSink* sink_ = nullptr;
  Status failure_;  ///< why run() has to find another plan
  std::atomic<bool> cancelled_ = false;
  /// Protects what follows as cancel() sees it; taken before the mutexes of requests in it.
  std::mutex mutex_;
  std::shared_ptr<const PlanMix> plan_;
  std::vector<std::unique_ptr<HeteroExecution>> executions_;  ///< per way of plan_
  HeteroExecution* execution_ = nullptr;                      ///< the last one begun
};

}  // namespace het::hetero
