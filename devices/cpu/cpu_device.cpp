#include "devices/cpu/cpu_device.h"

#include <fstream>
#include <unordered_set>

#include "devices/cpu/cpu_compiled_model.h"
#include "devices/cpu/onednn.h"
#include "inference/passes/prepare_model.h"

namespace het::cpu {
namespace {

constexpr std::string_view kName = "CPU";

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
      return line.substr(colon + 2);
    }
  }
  return "CPU";
}

/// Nodes of the file that the reference runs, by planning the model as compile_model() does.
Result<std::unordered_set<std::string>> reference_nodes(Model& prepared,
                                                        const StreamSettings& settings) {
  StreamSettings one_stream = settings;
  one_stream.streams = 1;
  one_stream.places.resize(1);
  HET_ASSIGN(const auto streams, start_streams(one_stream));
  HET_ASSIGN(const Plan plan, plan_on_stream(*streams, prepared, settings));
  std::unordered_set<std::string> names;
  for (const Step& step : plan.steps) {
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
      : topology_(std::move(topology)),
        budget_(std::make_shared<CoreBudget>(topology_.max_threads)) {}

  std::string_view name() const override { return kName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, kName));
    if (def->name == "FULL_DEVICE_NAME") return processor_name();
    if (def->name == "OPTIMIZATION_CAPABILITIES") {
      return has_bfloat16() ? "FP32 BF16 INT8" : "FP32 INT8";
    }
    if (def->name == "RANGE_FOR_STREAMS") return fmt::format("1 {}", topology_.max_threads);
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(kName);
    if (def->name == "EXECUTION_DEVICES") return std::string(kName);
    if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return "1";
    return std::string(def->default_value);
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_ASSIGN(const StreamSettings settings, stream_settings(properties, topology_));
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
    return CpuCompiledModel::create(model, properties, topology_, budget_);
  }

 private:
  Topology topology_;
  std::shared_ptr<CoreBudget> budget_;
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
