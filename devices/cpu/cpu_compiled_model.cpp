#include "devices/cpu/cpu_compiled_model.h"

#include <algorithm>

#include "devices/cpu/cpu_request.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/precision_choice.h"
#include "inference/devices/cache_folder.h"
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

ElementType precision_of(const PlanOrigin& origin) {
  return origin.precision == kBFloat16 && has_bfloat16() ? ElementType::BFloat16
                                                         : ElementType::Float32;
}

}  // namespace

Result<std::shared_ptr<CompiledModel>> CpuCompiledModel::create(const Model& model,
                                                                const Properties& properties,
                                                                const DeviceParts& device,
                                                                ChoiceStore* store) {
  HET_ASSIGN(const StreamSettings settings, stream_settings(properties, device.topology));
  HET_ASSIGN(const std::unique_ptr<Model> prepared, prepared_model(model, settings));
  ExportSource source(*prepared);
  const std::optional<ModelStore> files = ModelStore::create(source, properties, settings, device);
  const Compilation compilation{model, *prepared, settings, properties, device};
  auto compiled = files ? share(compilation, std::move(source), store, *files)
                        : pack(compilation, std::move(source), store);
  release_files(model);
  return compiled;
}

Result<std::shared_ptr<CpuCompiledModel>> CpuCompiledModel::pack(const Compilation& given,
                                                                 ExportSource source,
                                                                 ChoiceStore* store) {
  StreamSettings settings = given.settings;
  HET_ASSIGN(auto streams, start_streams(settings));
  if (store) store->refresh();
  const std::unique_ptr<Model> planning = given.prepared.clone();
  std::unique_ptr<Model> exact = given.prepared.clone();
  HET_ASSIGN(PlannedModel planned,
             plan_on_stream(*streams, *planning, settings,
                            {.store = store, .budget = &given.device.budgets->all()}));
  if (store) store->save();
  settings.precision = planned.precision;
  if (planned.plan.spoils_constants) {
    planned.choices[std::string(kKeepsNonFinite)] = "yes";
    const LayerChoices choices = planned.choices;
    HET_ASSIGN(planned, plan_on_stream(*streams, *exact, settings, {.choices = &choices}));
    exact = nullptr;
  }
  source.forget_packed(std::move(planned.packed));
  return complete(given, settings, *planning, std::move(planned), std::move(exact),
                  std::move(source), std::move(streams));
}

Result<std::shared_ptr<CpuCompiledModel>> CpuCompiledModel::take(const Compilation& given,
                                                                 ExportSource source,
                                                                 ExportedPlan stored) {
  StreamSettings settings = given.settings;
  settings.precision = precision_of(stored.origin);
  const std::unique_ptr<Model> planning = given.prepared.clone();
  HET_TRY(share_constants(*planning, stored.constants));
  std::unique_ptr<Model> exact = planning->clone();
  HET_TRY(share_constants(*exact, stored.plain));
  source.take_stored(stored);
  HET_ASSIGN(auto streams, start_streams(settings));
  PackedConstants packed(std::move(stored.packed), stored.memory);
  HET_ASSIGN(PlannedModel planned, plan_on_stream(*streams, *planning, settings,
                                                  {.choices = &stored.choices, .packed = &packed}));
  if (planned.plan.spoils_constants) {
    return error(StatusCode::ParseError, "its plan would spoil NaN or infinities of the weights");
  }
  return complete(given, settings, *planning, std::move(planned), std::move(exact),
                  std::move(source), std::move(streams));
}

Result<std::shared_ptr<CpuCompiledModel>> CpuCompiledModel::share(const Compilation& given,
                                                                  ExportSource source,
                                                                  ChoiceStore* store,
                                                                  const ModelStore& files) {
  const auto find = [&]() -> std::shared_ptr<CpuCompiledModel> {
    std::optional<ExportedPlan> stored = files.find();
    if (!stored) return nullptr;
    auto taken = take(given, source, std::move(*stored));
    if (taken) return *taken;
    files.refuse(taken.error().message());
    return nullptr;
  };
  const bool was_there = files.exists();
  if (auto found = find()) return found;
  const CacheTurn turn = files.wait_for_turn();
  // Whoever had the turn before has made it.
  if (!was_there || turn.has_waited()) {
    if (auto found = find()) return found;
  }
  HET_ASSIGN(std::shared_ptr<CpuCompiledModel> packed, pack(given, source, store));
  if (!packed->keep_in(files)) return packed;
  // What was packed here goes with `packed`.
  if (auto found = find()) return found;
  return packed;
}

bool CpuCompiledModel::keep_in(const ModelStore& files) const {
  StoredExtras extras{files.key(), {}};
  if (exact_ != nullptr && source_->has_own_memory()) {
    extras.plain = source_->plain_weights(exact_->model());
  }
  uint64_t bytes = source_->content_bytes();
  for (const auto& [name, content] : extras.plain) bytes += content.size_bytes();
  return files.replace(bytes, [&](std::ostream& stream) {
    return source_->write(stream, origin(), properties_, choices_, extras);
  });
}

std::shared_ptr<CpuCompiledModel> CpuCompiledModel::complete(
    const Compilation& given, const StreamSettings& settings, const Model& planning,
    PlannedModel planned, std::unique_ptr<Model> exact, ExportSource source,
    std::unique_ptr<StreamExecutor> streams) {
  const std::shared_ptr<CpuCompiledModel> compiled(
      new CpuCompiledModel(given.model, planning, std::move(planned), settings, given.properties,
                           given.device, std::move(streams)));
  compiled->source_ = std::move(source);
  if (exact != nullptr && needs_finite_values(compiled->plan_.plan())) {
    compiled->exact_ = std::make_unique<ExactPlan>(std::move(exact), settings, compiled->choices_);
  }
  return compiled;
}

Result<std::shared_ptr<CompiledModel>> CpuCompiledModel::import(std::istream& stream,
                                                                const Properties& properties,
                                                                const DeviceParts& device,
                                                                ExportedFile::Checksums checksums) {
  HET_ASSIGN(const ExportedFile file, ExportedFile::read(stream, kExportDevice, checksums));
  HET_ASSIGN(ExportedPlan exported, read_exported_plan(file, device.machine));
  HET_ASSIGN(const std::unique_ptr<Model> prepared, read_exported_graph(file, exported));
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
  settings.precision = precision_of(exported.origin);
  HET_TRY(prepare_model(*prepared));
  const std::unique_ptr<Model> original = prepared->clone();
  HET_ASSIGN(auto streams, start_streams(settings));
  PackedConstants packed(std::move(exported.packed), exported.memory);
  HET_ASSIGN(PlannedModel planned, plan_on_stream(*streams, *prepared, settings,
                                                  {.choices = &exported.choices,
                                                   .packed = &packed,
                                                   .non_finite = NonFinite::Taken}));
  return std::shared_ptr<CompiledModel>(new CpuCompiledModel(
      *original, *prepared, std::move(planned), settings, merged, device, std::move(streams)));
}

Status CpuCompiledModel::export_model(std::ostream& stream) const {
  if (!source_) {
    return error(StatusCode::NotSupported,
                 "model '{}' was imported itself; copy the file that it was imported from", name());
  }
  return source_->write(stream, origin(), properties_, choices_);
}

PlanOrigin CpuCompiledModel::origin() const {
  return {machine_, plan_settings(settings_), std::string(precision_name(settings_.precision))};
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
