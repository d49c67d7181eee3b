#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/cpu/device_parts.h"
#include "devices/cpu/exact_plan.h"
#include "devices/cpu/model_store.h"
#include "devices/cpu/plan/exported_plan.h"
#include "devices/cpu/plan/planner.h"
#include "devices/cpu/plan/stream_settings.h"
#include "devices/cpu/runnable_plan.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"

namespace het::cpu {

/// A model planned for the CPU, with the streams that run it and their memory. Thread-safe.
class CpuCompiledModel final : public CompiledModel {
 public:
  /// Clones, prepares and fuses `model` and plans it on a stream of its own. `store` may be null.
  /// With WEIGHT_SHARING the packed weights are those of a file in CACHE_DIR (model_store.h), which
  /// is written where it is missing.
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

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  /// What is compiled, and how.
  struct Compilation {
    const Model& model;
    const Model& prepared;
    const StreamSettings& settings;
    const Properties& properties;
    const DeviceParts& device;
  };
  /// One that packs its own weights.
  static Result<std::shared_ptr<CpuCompiledModel>> pack(const Compilation& given,
                                                        ExportSource source, ChoiceStore* store);
  /// One with the packed weights of a file. Fails when they do not fit.
  static Result<std::shared_ptr<CpuCompiledModel>> take(const Compilation& given,
                                                        ExportSource source, ExportedPlan stored);
  /// One with those in CACHE_DIR; where that does not work, one with its own.
  static Result<std::shared_ptr<CpuCompiledModel>> share(const Compilation& given,
                                                         ExportSource source, ChoiceStore* store,
                                                         const ModelStore& files);
  static std::shared_ptr<CpuCompiledModel> complete(const Compilation& given,
                                                    const StreamSettings& settings,
                                                    const Model& planning, PlannedModel planned,
                                                    std::unique_ptr<Model> exact,
                                                    ExportSource source,
                                                    std::unique_ptr<StreamExecutor> streams);
  /// False when it cannot be written, which is a warning.
  bool keep_in(const ModelStore& files) const;
  PlanOrigin origin() const;

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
  std::unique_ptr<StreamExecutor> streams_;
};

}  // namespace het::cpu
