#include "devices/cpu/cpu_device.h"

#include <unistd.h>

#include <fstream>
#include <map>
#include <mutex>
#include <unordered_set>

#include "devices/cpu/cpu_compiled_model.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/planner.h"
#include "inference/devices/cache_folder.h"
#include "inference/devices/choice_store.h"
#include "inference/passes/prepare_model.h"

namespace het::cpu {
namespace {

constexpr std::string_view kName = "CPU";
/// To be raised when kernels change so much that what was measured before says little, and when
/// weights are packed otherwise, which exported models hold.
constexpr int kKernelsVersion = 13;

/// What the system says about the first processor; empty where it does not.
std::string cpuinfo(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.rfind(key, 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return {};
}

std::string processor_name() {
  const std::string name = cpuinfo("model name");
  return name.empty() ? "CPU" : name;
}

uint64_t memory_bytes() {
  return static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// What choices and packed weights depend on, beside the number of threads.
std::string machine_description() {
  return fmt::format("{} ({}.{}.{}), L2 {} KiB, {}, SIMD {}, kernels {}", processor_name(),
                     cpuinfo("cpu family"), cpuinfo("model\t"), cpuinfo("stepping"),
                     ::sysconf(_SC_LEVEL2_CACHE_SIZE) / 1024, onednn_description(), simd_target(),
                     kKernelsVersion);
}

/// Nodes of the file that the reference runs, by planning the model as compile_model() does.
Result<std::unordered_set<std::string>> reference_nodes(Model& prepared,
                                                        const StreamSettings& settings) {
  StreamSettings one_stream = settings;
  one_stream.streams = 1;
  one_stream.places.resize(1);
  HET_ASSIGN(const auto streams, start_streams(one_stream));
  HET_ASSIGN(const PlannedModel planned, plan_on_stream(*streams, prepared, settings));
  std::unordered_set<std::string> names;
  for (const Step& step : planned.plan.steps) {
    if (step.kernel->implementation() != "ref") continue;
    names.insert(step.node_name);
    names.insert(step.fused_names.begin(), step.fused_names.end());
  }
  return names;
}

bool shapes_are_known(const Model& model) {
  for (const ModelInput& input : model.inputs()) {
    if (!input.value->desc().is_static()) return false;
  }
  return true;
}

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(Topology topology)
      : parts_{std::move(topology), machine_description(), nullptr} {
    parts_.budgets = std::make_shared<CoreBudgets>(parts_.topology.max_threads);
  }

  std::string_view name() const override { return kName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, kName));
    if (def->name == "FULL_DEVICE_NAME") return processor_name();
    if (def->name == "OPTIMIZATION_CAPABILITIES") {
      return has_bfloat16() ? "FP32 BF16 INT8" : "FP32 INT8";
    }
    if (def->name == "DEVICE_TYPE") return "cpu";
    if (def->name == "DEVICE_TOTAL_MEM_SIZE") return std::to_string(memory_bytes());
    if (def->name == "RANGE_FOR_STREAMS") return fmt::format("1 {}", parts_.topology.max_threads);
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(kName);
    if (def->name == "EXECUTION_DEVICES") return std::string(kName);
    if (def->name == "CACHE_DIR") return cache_dir({});
    if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return "1";
    return std::string(def->default_value);
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_ASSIGN(const StreamSettings settings, stream_settings(properties, parts_.topology));
    const std::unique_ptr<Model> prepared = model.clone();
    HET_ASSIGN(const std::vector<NodeFailure> failures, prepare_model_for_query(*prepared));
    // Every known operator has at least its reference, so nothing else is refused.
    std::vector<NodeSupport> rows =
        query_rows(model, *prepared, failures, kName, [](const Node&) { return ""; });
    if (!failures.empty() || !shapes_are_known(*prepared)) return rows;
    HET_ASSIGN(const auto names, reference_nodes(*prepared, settings));
    for (NodeSupport& row : rows) {
      if (row.supported() && names.count(row.node_name) > 0) {
        row.reason = "runs the reference implementation";
      }
    }
    return rows;
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    if (context != nullptr) {
      return error(StatusCode::NotSupported, "{} cannot work in objects of the application", kName);
    }
    note_cache_bound(properties);
    return CpuCompiledModel::create(model, properties, parts_, store(properties));
  }

  Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream,
                                                      const Properties& properties) override {
    return CpuCompiledModel::import(stream, properties, parts_);
  }

 private:
  /// Null where fixed rules shall decide. One store a folder, for the life of the device.
  ChoiceStore* store(const Properties& properties) {
    const std::string folder = cache_dir(properties);
    if (folder.empty() || property_boolean(properties, "DETERMINISTIC")) return nullptr;
    const std::lock_guard lock(mutex_);
    std::unique_ptr<ChoiceStore>& store = stores_[folder];
    if (!store) {
      store = std::make_unique<ChoiceStore>(folder, std::string(kName), parts_.machine);
    }
    return store.get();
  }

  DeviceParts parts_;
  std::mutex mutex_;  ///< protects stores_; taken alone
  std::map<std::string, std::unique_ptr<ChoiceStore>> stores_;
};

}  // namespace

Result<std::shared_ptr<Device>> make_device(Core&, std::string_view id) {
  if (!id.empty()) {
    return error(StatusCode::NotFound, "there is no device {}.{}: {} exists once", kName, id,
                 kName);
  }
  HET_ASSIGN(Topology topology, read_topology());
  return std::make_shared<CpuDevice>(std::move(topology));
}

}  // namespace het::cpu
