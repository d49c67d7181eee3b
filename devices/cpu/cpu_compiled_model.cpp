#include "devices/cpu/cpu_compiled_model.h"

#include <omp.h>

#include <algorithm>
#include <future>
#include <new>
#include <unordered_map>
#include <unordered_set>

#include "devices/cpu/cpu_request.h"
#include "devices/cpu/onednn.h"
#include "devices/cpu/passes/fuse.h"
#include "devices/cpu/passes/int8_passes.h"
#include "devices/cpu/pin_thread.h"
#include "devices/cpu/plan_builder.h"
#include "devices/cpu/subnormals.h"
#include "inference/passes/prepare_model.h"
#include "inference/ports.h"
#include "inference/readers/mapped_file.h"

namespace het::cpu {
namespace {

bool rounds_to_levels(const Model& model) {
  return std::any_of(model.nodes().begin(), model.nodes().end(),
                     [](const auto& node) { return node->op_type() == "FakeQuantize"; });
}

/// Fuses and plans; run once on a stream's thread.
class PlanJob final : public StreamJob {
 public:
  PlanJob(Model& model, PlanOptions options) : model_(model), options_(options) {}

  void run(size_t) override {
    // The waiting thread may destroy the job as soon as it has the result: this keeps the promise.
    const std::shared_ptr<std::promise<Result<Plan>>> result = result_;
    // oneDNN and the standard library throw; nothing may leave a stream's thread.
    try {
      result->set_value(plan());
    } catch (const std::bad_alloc&) {
      result->set_value(error(StatusCode::OutOfMemory, "no memory is left to plan the model"));
    } catch (const std::exception& failure) {
      result->set_value(error(StatusCode::Internal, "cannot plan the model: {}", failure.what()));
    }
  }
  Result<Plan> wait() { return result_->get_future().get(); }

 private:
  Result<Plan> plan() {
    options_.blocked = preferred_blocked_format();
    options_.preferred_formats = rounds_to_levels(model_);
    HET_TRY(fuse(model_, options_.int8));
    PlanBuilder builder(model_, options_);
    return builder.build();
  }

  Model& model_;
  PlanOptions options_;
  std::shared_ptr<std::promise<Result<Plan>>> result_ =
      std::make_shared<std::promise<Result<Plan>>>();
};

ProfileRow profile_row(const Plan& plan, const Step& step) {
  ProfileRow row{.node_name = step.node_name,
                 .status = ProfileStatus::NotRun,
                 .layer_type = step.layer_type,
                 .exec_type = std::string(step.kernel->implementation())};
  for (const std::vector<TensorId>* operands : {&step.inputs, &step.outputs}) {
    for (const TensorId id : *operands) {
      if (id == kNoTensor) continue;
      const PlanTensor& tensor = plan.tensors[static_cast<size_t>(id)];
      if (tensor.storage == Storage::Dynamic) continue;
      row.bytes += static_cast<int64_t>(size_bytes(tensor.spec));
    }
  }
  if (!step.outputs.empty() && step.outputs[0] != kNoTensor) {
    const PlanTensor& output = plan.tensors[static_cast<size_t>(step.outputs[0])];
    if (output.storage != Storage::Dynamic) {
      row.type = std::string(to_string(output.spec.type));
      row.layout = std::string(to_string(output.spec.format));
    }
  }
  return row;
}

/// Weights are packed; what the plan reads from a file where it lies is a small part of it.
void release_files(const Model& model) {
  std::span<const std::byte> released;
  for (const auto& value : model.values()) {
    if (!value->is_constant()) continue;
    const std::byte* content = value->constant().bytes();
    if (content >= released.data() && content < released.data() + released.size()) continue;
    const std::span<const std::byte> file = release_whole_file(content);
    if (!file.empty()) released = file;
  }
}

}  // namespace

Result<std::unique_ptr<StreamExecutor>> start_streams(const StreamSettings& settings) {
  StreamExecutorOptions options;
  options.streams = settings.streams;
  options.thread_name = "CPU";
  options.on_thread_start = [settings](size_t stream) {
    if (settings.flush_subnormals) flush_subnormals();  // the team's threads inherit it
    omp_set_dynamic(0);
    omp_set_max_active_levels(1);
    const TeamPlaces& places = settings.places[stream];
    omp_set_num_threads(static_cast<int>(places.size()));
    set_team_places(places);
  };
  return StreamExecutor::create(options);
}

Result<Plan> plan_on_stream(StreamExecutor& streams, Model& model, const StreamSettings& settings) {
  PlanOptions options;
  options.precision = settings.precision;
  options.fast_algorithms = settings.fast_algorithms;
  options.int8 = settings.int8;
  PlanJob job(model, options);
  streams.submit(job);
  return job.wait();
}

Result<std::shared_ptr<CompiledModel>> CpuCompiledModel::create(
    const Model& model, const Properties& properties, const Topology& topology,
    std::shared_ptr<CoreBudget> budget) {
  HET_ASSIGN(const StreamSettings settings, stream_settings(properties, topology));
  const std::unique_ptr<Model> prepared = model.clone();
  if (settings.int8) HET_TRY(restore_dequantisation(*prepared));
  HET_TRY(prepare_model(*prepared));
  HET_ASSIGN(auto streams, start_streams(settings));
  HET_ASSIGN(Plan plan, plan_on_stream(*streams, *prepared, settings));
  const std::shared_ptr<CompiledModel> compiled(
      new CpuCompiledModel(model, *prepared, std::move(plan), settings, properties,
                           std::move(budget), std::move(streams)));
  release_files(model);
  return compiled;
}

CpuCompiledModel::CpuCompiledModel(const Model& original, const Model& prepared, Plan plan,
                                   const StreamSettings& settings, Properties properties,
                                   std::shared_ptr<CoreBudget> budget,
                                   std::unique_ptr<StreamExecutor> streams)
    : CompiledModel(original.name(), input_ports(prepared), output_ports(prepared)),
      plan_(std::move(plan)),
      settings_(settings),
      properties_(std::move(properties)),
      profiled_(property_boolean(properties_, "PERF_COUNT")),
      budget_(std::move(budget)),
      streams_(std::move(streams)) {
  std::unordered_map<std::string, size_t> rows;
  rows_.push_back({.node_name = "preprocess",
                   .status = ProfileStatus::NotRun,
                   .layer_type = "Preprocess",
                   .exec_type = "preprocess"});
  for (const Step& step : plan_.steps) {
    const auto [row, fresh] = rows.emplace(step.node_name, rows_.size());
    if (fresh) rows_.push_back(profile_row(plan_, step));
    step_rows_.push_back(row->second);
  }
  for (const auto& node : original.nodes()) {
    if (rows.count(node->name()) > 0) continue;
    rows_.push_back({.node_name = node->name(),
                     .status = ProfileStatus::OptimizedOut,
                     .layer_type = node->qualified_type(),
                     .exec_type = "undef"});
  }
}

Result<std::string> CpuCompiledModel::get_property(std::string_view name) const {
  HET_ASSIGN(const PropertyDef* def, find_property(name, "CPU"));
  if (def->name == "EXECUTION_DEVICES") return "CPU";
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties("CPU");
  if (def->name == "INFERENCE_PRECISION_HINT") {
    return settings_.precision == ElementType::BFloat16 ? "bf16" : "f32";
  }
  if (def->name == "CPU_DENORMALS_OPTIMIZATION") return settings_.flush_subnormals ? "YES" : "NO";
  if (def->name == "NUM_STREAMS") return std::to_string(settings_.streams);
  if (def->name == "INFERENCE_NUM_THREADS") {
    return std::to_string(settings_.streams * settings_.threads_per_stream);
  }
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
    return std::to_string(settings_.optimal_requests);
  }
  return property_text(properties_, def->name);
}

Result<std::unique_ptr<DeviceRequest>> CpuCompiledModel::create_device_request() {
  return CpuRequest::create(*this);
}

}  // namespace het::cpu
