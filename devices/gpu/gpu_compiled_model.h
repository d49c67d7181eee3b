#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "devices/gpu/memory/context.h"
#include "devices/gpu/memory/stream_settings.h"
#include "devices/gpu/plan/plan.h"
#include "inference/base/probes.h"
#include "inference/devices/device.h"
#include "inference/devices/stream_executor.h"

namespace het::gpu {

/// A model planned for a GPU, with the queues that run it. Immutable; thread-safe.
class GpuCompiledModel final : public CompiledModel {
 public:
  /// Clones, prepares and fuses `model`, plans it and, where kernels were built, runs it once.
  static Result<std::shared_ptr<CompiledModel>> create(const Model& model,
                                                       const Properties& properties,
                                                       std::shared_ptr<Context> context,
                                                       std::string_view device_name);

  /// Opens the context that properties ask for.
  using ContextOf = std::function<Result<std::shared_ptr<Context>>(const Properties& properties)>;
  /// Compiles what export_model() wrote, with the properties of then; `properties` win.
  static Result<std::shared_ptr<CompiledModel>> import(std::istream& stream,
                                                       const Properties& properties,
                                                       const ContextOf& context,
                                                       std::string_view device_name);
  Status export_model(std::ostream& stream) const override;

  Result<std::string> get_property(std::string_view name) const override;
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;

  const Plan& plan() const { return plan_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  bool profiled() const { return settings_.profiled; }
  /// Where binaries of programs are kept.
  std::string cache_folder() const;
  /// Whether a kernel fills this input.
  bool converts_pictures_of(const Port& port) const;
  StreamExecutor& streams() { return *streams_; }
  /// Where a job waits for the end of a request of this stream; null when the driver calls back.
  StreamExecutor* waiting_thread(size_t stream) const {
    return waiting_threads_.empty() ? nullptr : waiting_threads_[stream].get();
  }
  cl_command_queue queue(size_t stream) const { return queues_[stream].get(); }
  /// Rows of a profile in order of execution: "preprocess" first, then one per step (step_rows()),
  /// then the nodes of the file that cost nothing.
  const std::vector<ProfileRow>& profile_rows() const { return rows_; }
  const std::vector<size_t>& step_rows() const { return step_rows_; }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  GpuCompiledModel(const Model& original, const Model& prepared, Plan plan,
                   const StreamSettings& settings, Properties properties,
                   std::shared_ptr<Context> context, std::string_view device_name);
  Status start_streams();
  Status warm_up();
  /// Kernels that convert pictures; those that never ran convert one.
  Result<std::vector<KernelUse>> prepare_pictures();

  std::shared_ptr<Context> context_;
  std::string device_name_;
  std::unique_ptr<const Model> exported_;  ///< the prepared model; shares constants with the file
  Plan plan_;
  StreamSettings settings_;
  bool uses_int8_ = false;  ///< products of quantised values run on int8 kernels
  Properties properties_;
  std::vector<ProfileRow> rows_;
  std::vector<size_t> step_rows_;
  std::vector<QueueHandle> queues_;
  std::vector<std::unique_ptr<StreamExecutor>> waiting_threads_;  ///< GPU_COMPLETION=WAIT: a stream
  std::unique_ptr<StreamExecutor> streams_;  ///< ends before the threads and queues that it uses
};

}  // namespace het::gpu
