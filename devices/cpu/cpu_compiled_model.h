#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/cpu/exact_plan.h"
#include "devices/cpu/plan/exported_plan.h"
#include "devices/cpu/plan/planner.h"
#include "devices/cpu/plan/stream_settings.h"
#include "devices/cpu/runnable_plan.h"
#include "devices/cpu/threads/core_budget.h"
#include "devices/cpu/threads/spin_limit.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"

namespace het::cpu {

/// What the device gives to all its models.
struct DeviceParts {
  Topology topology;
  std::string machine;  ///< what choices and packed weights depend on, beside the settings
  std::shared_ptr<CoreBudgets> budgets;
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

  const RunnablePlan& plan() const { return plan_; }
  /// For an execution that found values which `plan()` cannot have (Step::to_be_finite).
  Result<RunnablePlan*> exact_plan() const { return exact_->get(); }
  bool profiled() const { return profiled_; }
  StreamExecutor& streams() { return *streams_; }
  /// To be held while a request is executed.
  CoreLease lease_cores() const {
    return {sparing_, budgets_->all(), settings_.threads_per_stream};
  }
  /// After an execution, on the stream's thread.
  void observe_team() const { spin_limit_->observe_team(); }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  CpuCompiledModel(const Model& original, const Model& prepared, PlannedModel planned,
                   const StreamSettings& settings, Properties properties, const DeviceParts& device,
                   std::unique_ptr<StreamExecutor> streams);

  std::optional<ExportSource> source_;  ///< nothing for an imported model
  std::string machine_;
  LayerChoices choices_;
  RunnablePlan plan_;
  std::unique_ptr<ExactPlan> exact_;  ///< null where the plan takes any value
  StreamSettings settings_;
  Properties properties_;
  bool profiled_ = false;
  std::shared_ptr<CoreBudgets> budgets_;
  CoreBudget* sparing_;  ///< of budgets_; null without SPARE_CORES
  std::shared_ptr<SpinLimit> spin_limit_;
  std::unique_ptr<StreamExecutor> streams_;
};

}  // namespace het::cpu
