#include "devices/cpu/cpu_compiled_model.h"

#include <algorithm>

#include "devices/cpu/cpu_request.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/precision_choice.h"
#include "inference/devices/ports.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/prepare_model.h"
#include "inference/readers/mapped_file.h"

namespace het::cpu {
namespace {

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

Result<std::unique_ptr<Model>> prepared_model(const Model& model, const StreamSettings& settings) {
  std::unique_ptr<Model> prepared = model.clone();
  if (settings.int8) HET_TRY(restore_dequantisation(*prepared));
  HET_TRY(prepare_model(*prepared));
  return prepared;
}

bool needs_finite_values(const Plan& plan) {
  return std::ranges::any_of(plan.steps,
                             [](const Step& step) { return !step.to_be_finite.empty(); });
}

std::string_view precision_name(ElementType type) {
  return type == ElementType::BFloat16 ? kBFloat16 : kFloat32;
}

/// What decides about kernels and the form of their weights, beside machine and precision.
std::string plan_settings(const StreamSettings& settings) {
  return fmt::format("threads of a stream: {}, int8: {}, fast algorithms: {}",
                     settings.threads_per_stream, settings.int8 ? "yes" : "no",
                     settings.fast_algorithms ? "yes" : "no");
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> CpuCompiledModel::create(const Model& model,
                                                                const Properties& properties,
                                                                const DeviceParts& device,
                                                                ChoiceStore* store) {
  HET_ASSIGN(StreamSettings settings, stream_settings(properties, device.topology));
  HET_ASSIGN(const std::unique_ptr<Model> prepared, prepared_model(model, settings));
  HET_ASSIGN(auto streams, start_streams(settings));
  if (store) store->refresh();
  ExportSource source(*prepared);
  std::unique_ptr<Model> exact = prepared->clone();
  HET_ASSIGN(PlannedModel planned,
             plan_on_stream(*streams, *prepared, settings,
                            {.store = store, .budget = &device.budgets->all()}));
  if (store) store->save();
  settings.precision = planned.precision;
  if (planned.plan.spoils_constants) {
    planned.choices[std::string(kKeepsNonFinite)] = "yes";
    const LayerChoices choices = planned.choices;
    HET_ASSIGN(planned, plan_on_stream(*streams, *exact, settings, {.choices = &choices}));
    exact = nullptr;
  }
  source.forget_packed(std::move(planned.packed));
  const std::shared_ptr<CpuCompiledModel> compiled(new CpuCompiledModel(
      model, *prepared, std::move(planned), settings, properties, device, std::move(streams)));
  compiled->source_ = std::move(source);
  if (exact != nullptr && needs_finite_values(compiled->plan_.plan())) {
    compiled->exact_ = std::make_unique<ExactPlan>(std::move(exact), settings, compiled->choices_);
  }
  release_files(model);
  return compiled;
}

Result<std::shared_ptr<CompiledModel>> CpuCompiledModel::import(std::istream& stream,
                                                                const Properties& properties,
                                                                const DeviceParts& device,
                                                                ExportedFile::Checksums checksums) {
  HET_ASSIGN(ExportedPlan exported, read_exported_plan(stream, device.machine, checksums));
  HET_ASSIGN(Properties merged, validate_properties(exported.properties, "CPU"));
  for (const auto& [name, value] : properties) merged[name] = value;
  HET_ASSIGN(StreamSettings settings, stream_settings(merged, device.topology));
  const std::string hint = property_text(properties, "INFERENCE_PRECISION_HINT");
  if (hint != "dynamic" && hint != exported.origin.precision) {
    return error(
        StatusCode::NotSupported,
        "the model was exported with {} weights, INFERENCE_PRECISION_HINT={} needs others; "
        "compile the model and export it again",
        exported.origin.precision, hint);
  }
  if (plan_settings(settings) != exported.origin.settings) {
    return error(StatusCode::NotSupported,
                 "the model was exported for '{}', it is imported for '{}'; give the properties "
                 "that it was compiled with (INFERENCE_NUM_THREADS, NUM_STREAMS, "
                 "EXECUTION_MODE_HINT), or compile it and export it again",
                 exported.origin.settings.substr(0, 256), plan_settings(settings));
  }
  settings.precision = exported.origin.precision == kBFloat16 && has_bfloat16()
                           ? ElementType::BFloat16
                           : ElementType::Float32;
  HET_TRY(prepare_model(*exported.model));
  const std::unique_ptr<Model> original = exported.model->clone();
  HET_ASSIGN(auto streams, start_streams(settings));
  PackedConstants packed(std::move(exported.packed), exported.memory);
  HET_ASSIGN(PlannedModel planned, plan_on_stream(*streams, *exported.model, settings,
                                                  {.choices = &exported.choices,
                                                   .packed = &packed,
                                                   .non_finite = NonFinite::Taken}));
  return std::shared_ptr<CompiledModel>(new CpuCompiledModel(*original, *exported.model,
                                                             std::move(planned), settings, merged,
                                                             device, std::move(streams)));
}

Status CpuCompiledModel::export_model(std::ostream& stream) const {
  if (!source_) {
    return error(StatusCode::NotSupported,
                 "model '{}' was imported itself; copy the file that it was imported from", name());
  }
  const PlanOrigin origin{machine_, plan_settings(settings_),
                          std::string(precision_name(settings_.precision))};
  return source_->write(stream, origin, properties_, choices_);
}

CpuCompiledModel::CpuCompiledModel(const Model& original, const Model& prepared,
                                   PlannedModel planned, const StreamSettings& settings,
                                   Properties properties, const DeviceParts& device,
                                   std::unique_ptr<StreamExecutor> streams)
    : CompiledModel(original.name(), input_ports(prepared), output_ports(prepared)),
      machine_(device.machine),
      choices_(std::move(planned.choices)),
      plan_(std::move(planned.plan), original),
      settings_(settings),
      properties_(std::move(properties)),
      profiled_(property_boolean(properties_, "PERF_COUNT")),
      budgets_(device.budgets),
      sparing_(budgets_->sparing(settings_.spare_cores)),
      spin_limit_(device.spin_limit),
      streams_(std::move(streams)) {}

Result<std::string> CpuCompiledModel::get_property(std::string_view name) const {
  HET_ASSIGN(const PropertyDef* def, find_property(name, "CPU"));
  if (def->name == "EXECUTION_DEVICES") return "CPU";
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties("CPU");
  if (def->name == "INFERENCE_PRECISION_HINT") {
    return std::string(precision_name(settings_.precision));
  }
  if (def->name == "CPU_DENORMALS_OPTIMIZATION") return settings_.flush_subnormals ? "YES" : "NO";
  if (def->name == "CACHE_DIR") return cache_dir(properties_);
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
  HET_TRY(plan_.prepare(settings_.streams));
  return std::unique_ptr<DeviceRequest>(std::make_unique<CpuRequest>(*this));
}

}  // namespace het::cpu
