#pragma once

#include <memory>
#include <string>
#include <vector>

#include "devices/cpu/core_budget.h"
#include "devices/cpu/plan.h"
#include "devices/cpu/stream_settings.h"
#include "inference/device.h"
#include "inference/stream_executor.h"

namespace het::cpu {

/// A model planned for the CPU, with the streams that run it. Immutable; thread-safe.
class CpuCompiledModel final : public CompiledModel {
 public:
  /// Clones, prepares and fuses `model` and plans it on a stream of its own.
  static Result<std::shared_ptr<CompiledModel>> create(const Model& model,
                                                       const Properties& properties,
                                                       const Topology& topology,
                                                       std::shared_ptr<CoreBudget> budget);

  Result<std::string> get_property(std::string_view name) const override;

  const Plan& plan() const { return plan_; }
  bool profiled() const { return profiled_; }
  StreamExecutor& streams() { return *streams_; }
  /// To be held while a request is executed.
  CoreLease lease_cores() const { return {*budget_, settings_.threads_per_stream}; }
  /// Rows of a profile in order of execution: "preprocess" first, then one per step (step_rows()),
  /// then the nodes of the file that cost nothing.
  const std::vector<ProfileRow>& profile_rows() const { return rows_; }
  const std::vector<size_t>& step_rows() const { return step_rows_; }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  CpuCompiledModel(const Model& original, const Model& prepared, Plan plan,
                   const StreamSettings& settings, Properties properties,
                   std::shared_ptr<CoreBudget> budget, std::unique_ptr<StreamExecutor> streams);

  Plan plan_;
  StreamSettings settings_;
  Properties properties_;
  bool profiled_ = false;
  std::vector<ProfileRow> rows_;
  std::vector<size_t> step_rows_;
  std::shared_ptr<CoreBudget> budget_;
  std::unique_ptr<StreamExecutor> streams_;
};

/// Starts the streams of a compile: every thread sizes its OpenMP team once.
Result<std::unique_ptr<StreamExecutor>> start_streams(const StreamSettings& settings);

/// Plans a prepared model on a thread of `streams`, because oneDNN chooses by the size of the
/// calling thread's team; `model` is fused on the way.
Result<Plan> plan_on_stream(StreamExecutor& streams, Model& model, const StreamSettings& settings);

}  // namespace het::cpu
