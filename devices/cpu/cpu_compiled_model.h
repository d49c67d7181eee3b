#pragma once

#include <iosfwd>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "devices/cpu/plan/exported_plan.h"
#include "devices/cpu/plan/plan.h"
#include "devices/cpu/plan/plan_execution.h"
#include "devices/cpu/plan/planner.h"
#include "devices/cpu/plan/stream_settings.h"
#include "devices/cpu/threads/core_budget.h"
#include "devices/cpu/threads/spin_limit.h"
#include "inference/base/probes.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"

namespace het::cpu {

/// What the device gives to all its models.
struct DeviceParts {
  Topology topology;
  std::string machine;  ///< what choices and packed weights depend on, beside the settings
  std::shared_ptr<CoreBudget> budget;
  std::shared_ptr<SpinLimit> spin_limit;
};

/// A model planned for the CPU, with the streams that run it and their memory. Thread-safe.
class CpuCompiledModel final : public CompiledModel {
 public:
  /// Clones, prepares and fuses `model` and plans it on a stream of its own. `store` may be null.
  static Result<std::shared_ptr<CompiledModel>> create(const Model& model,
                                                       const Properties& properties,
                                                       const DeviceParts& device,
                                                       ChoiceStore* store);
  /// A model that export_model() wrote; `properties` replace those that it was compiled with, as
  /// long as the packed weights fit. See read_exported_plan().
  static Result<std::shared_ptr<CompiledModel>> import(
      std::istream& stream, const Properties& properties, const DeviceParts& device,
      ExportedFile::Checksums checksums = ExportedFile::Checksums::Verify);

  Result<std::string> get_property(std::string_view name) const override;
  /// Fails with NotSupported for a model that was imported itself: its file is still the same.
  Status export_model(std::ostream& stream) const override;

  const Plan& plan() const { return plan_; }
  bool profiled() const { return profiled_; }
  StreamExecutor& streams() { return *streams_; }
  /// Memory and pointers of a stream's executions, for its thread alone.
  PlanExecution& execution(size_t stream) const { return *executions_[stream]; }
  /// To be held while a request is executed.
  CoreLease lease_cores() const { return {*budget_, settings_.threads_per_stream}; }
  /// After an execution, on the stream's thread.
  void observe_team() const { spin_limit_->observe_team(); }
  /// Rows of a profile in order of execution: "preprocess" first, then one per step (step_rows()),
  /// then the nodes of the file that cost nothing.
  const std::vector<ProfileRow>& profile_rows() const { return rows_; }
  const std::vector<size_t>& step_rows() const { return step_rows_; }
  /// Per step, for tracing tools.
  const std::vector<NodeNames>& step_names() const { return step_names_; }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  /// With the first request. Fails with OutOfMemory.
  Status prepare_executions();

  CpuCompiledModel(const Model& original, const Model& prepared, PlannedModel planned,
                   const StreamSettings& settings, Properties properties, const DeviceParts& device,
                   std::unique_ptr<StreamExecutor> streams);

  std::optional<ExportSource> source_;  ///< nothing for an imported model
  std::string machine_;
  LayerChoices choices_;
  Plan plan_;
  StreamSettings settings_;
  Properties properties_;
  bool profiled_ = false;
  std::vector<ProfileRow> rows_;
  std::vector<size_t> step_rows_;
  std::vector<NodeNames> step_names_;
  std::shared_ptr<CoreBudget> budget_;
  std::shared_ptr<SpinLimit> spin_limit_;
  std::mutex executions_mutex_;  ///< while executions_ is filled, before any request is there
  std::vector<std::unique_ptr<PlanExecution>> executions_;  ///< per stream
  std::unique_ptr<StreamExecutor> streams_;
};

}  // namespace het::cpu
