#include "devices/gpu/gpu_device.h"

#include <charconv>
#include <mutex>

#include "devices/gpu/fuse.h"
#include "devices/gpu/gpu_compiled_model.h"
#include "devices/gpu/int8_choice.h"
#include "devices/gpu/memory/application_context.h"
#include "devices/gpu/memory/context.h"
#include "devices/gpu/plan/plan_builder.h"
#include "inference/devices/cache_folder.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/prepare_model.h"

namespace het::gpu {
namespace {

constexpr std::string_view kKind = "GPU";

class GpuDevice final : public Device {
 public:
  GpuDevice(std::string name, size_t index) : name_(std::move(name)), index_(index) {}

  std::string_view name() const override { return name_; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, kKind));
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(kKind);
    if (def->name == "EXECUTION_DEVICES") return name_;
    if (def->name == "CACHE_DIR") return cache_dir({});
    if (!def->read_only) return std::string(def->default_value);
    HET_ASSIGN(const std::shared_ptr<Context> context, this->context({}));
    const Hardware& hardware = context->hardware();
    if (def->name == "FULL_DEVICE_NAME") return hardware.full_name();
    if (def->name == "DEVICE_TYPE") {
      if (hardware.is_cpu) return "cpu";
      return hardware.unified_memory ? "integrated" : "discrete";
    }
    if (def->name == "OPTIMIZATION_CAPABILITIES") {
      return context->works(Feature::IntegerDotProduct) ? "FP32 FP16 INT8" : "FP32 FP16";
    }
    if (def->name == "RANGE_FOR_STREAMS") return fmt::format("1 {}", kMostStreams);
    if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return "2";
    if (def->name == "GPU_DEVICE_TOTAL_MEM_SIZE") return std::to_string(hardware.memory_bytes);
    if (def->name == "GPU_EXECUTION_UNITS_COUNT") return std::to_string(hardware.compute_units);
    if (def->name == "GPU_FEATURES") return features(*context);
    if (def->name == "GPU_SURFACE_IMPORT") return surface_ways(hardware);
    return std::string(def->default_value);
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_ASSIGN(const std::shared_ptr<Context> context, this->context(properties));
    HET_ASSIGN(const auto layers, custom_layers(properties));
    const Int8Use use = int8_use(properties);
    const std::unique_ptr<Model> prepared = model.clone();
    if (use != Int8Use::No) HET_TRY(restore_dequantisation(*prepared));
    HET_ASSIGN(const std::vector<NodeFailure> failures, prepare_model_for_query(*prepared));
    if (failures.empty()) {
      // Nothing is measured: kernels are there for either answer.
      PlanOptions options;
      HET_ASSIGN(const bool int8, choose_int8(*prepared, context, options, use));
      HET_TRY(fuse(*prepared, int8));
    }
    const bool is_bound = check_inputs_static(*prepared).ok();
    return query_rows(model, *prepared, failures, name_,
                      [&](const Node& node) { return refusal(node, layers.get(), is_bound); });
  }

  std::vector<MemoryKind> direct_memory_kinds() const override {
    std::vector<MemoryKind> kinds{MemoryKind::Host, MemoryKind::OpenClBuffer};
    const auto opened = context({});
    for (const MemoryKind kind : {MemoryKind::VaSurface, MemoryKind::DmaBuf}) {
      if (opened && (*opened)->hardware().has_extension(import_extension(kind))) {
        kinds.push_back(kind);
      }
    }
    return kinds;
  }

  Result<std::shared_ptr<DeviceContext>> create_context(const ContextParams& params) override {
    std::shared_ptr<Context> own;
    if (!params.contains("cl_context")) {
      HET_ASSIGN(own, context({}));
    }
    return ApplicationContext::create(params, std::move(own), name_);
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* application) override {
    if (application != nullptr) {
      const auto* given = dynamic_cast<const ApplicationContext*>(application);
      if (given == nullptr) {
        return error(StatusCode::InvalidArgument, "{} cannot work in a context of {}", name_,
                     application->device_name());
      }
      return GpuCompiledModel::create(model, properties, given->context(), name_);
    }
    HET_ASSIGN(std::shared_ptr<Context> context, this->context(properties));
    return GpuCompiledModel::create(model, properties, std::move(context), name_);
  }

  Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream,
                                                      const Properties& properties) override {
    return GpuCompiledModel::import(
        stream, properties, [this](const Properties& merged) { return context(merged); }, name_);
  }

 private:
  static std::string features(Context& context) {
    const Hardware& hardware = context.hardware();
    std::string text = fmt::format("OpenCL {}.{}", hardware.opencl_major, hardware.opencl_minor);
    if (context.works(Feature::Half)) text += " fp16";
    if (context.works(Feature::SubGroups)) text += " subgroups";
    if (context.works(Feature::IntegerDotProduct)) text += " dp4a";
    if (hardware.unified_memory) text += " unified-memory";
    return text;
  }

  /// Opened at first use and kept.
  Result<std::shared_ptr<Context>> context(const Properties& properties) const {
    const std::lock_guard lock(mutex_);
    if (context_ != nullptr) return context_;
    const bool allow_cpu =
        environment_allows_cpu() || property_boolean(properties, "GPU_ALLOW_CPU");
    HET_ASSIGN(const Hardware hardware, find_gpu(index_, allow_cpu));
    HET_ASSIGN(context_, Context::create(hardware));
    return context_;
  }

  std::string name_;
  size_t index_;
  mutable std::mutex mutex_;  ///< protects context_; taken alone
  mutable std::shared_ptr<Context> context_;
};

}  // namespace

Result<std::shared_ptr<Device>> make_device(Core&, std::string_view id) {
  size_t index = 0;
  if (!id.empty()) {
    const auto [end, failed] = std::from_chars(id.data(), id.data() + id.size(), index);
    if (failed != std::errc() || end != id.data() + id.size()) {
      return error(StatusCode::NotFound, "there is no device GPU.{}: ids are numbers from 0 on",
                   id);
    }
  }
  std::string name(kKind);
  if (!id.empty()) name += fmt::format(".{}", id);
  return std::make_shared<GpuDevice>(std::move(name), index);
}

std::vector<std::string> device_ids() {
  const size_t count = list_gpus(environment_allows_cpu()).size();
  if (count == 1) return {""};
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(std::to_string(i));
  return ids;
}

}  // namespace het::gpu
