#include "devices/ref/ref_device.h"

#include "devices/ref/ref_compiled_model.h"
#include "inference/devices/properties.h"
#include "inference/machine/core_count.h"
#include "inference/passes/prepare_model.h"

namespace het::ref {
namespace {

constexpr std::string_view kName = "REF";

/// NUM_STREAMS; where it leaves the choice to us: one for latency, one per core for throughput.
size_t stream_count(const Properties& properties) {
  const int64_t streams = property_integer(properties, "NUM_STREAMS");
  if (streams > 0) return static_cast<size_t>(streams);
  const bool automatic = streams < 0;
  return automatic || property_text(properties, "PERFORMANCE_HINT") != "LATENCY" ? usable_cores()
                                                                                 : 1;
}

class RefDevice final : public Device {
 public:
  std::string_view name() const override { return kName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, kName));
    if (def->name == "FULL_DEVICE_NAME") return "Reference implementation of every operator";
    if (def->name == "OPTIMIZATION_CAPABILITIES") return "FP32 FP16 BF16 INT8";
    if (def->name == "DEVICE_TYPE") return "cpu";
    if (def->name == "RANGE_FOR_STREAMS") return fmt::format("1 {}", usable_cores());
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(kName);
    if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return "1";
    if (def->name == "EXECUTION_DEVICES") return std::string(kName);
    return std::string(def->default_value);
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties&) const override {
    const std::unique_ptr<Model> prepared = model.clone();
    HET_ASSIGN(const std::vector<NodeFailure> failures, prepare_model_for_query(*prepared));
    // Every known operator has a reference, so there is nothing that REF itself refuses.
    return query_rows(model, *prepared, failures, kName, [](const Node&) { return ""; });
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    if (context != nullptr) {
      return error(StatusCode::NotSupported, "{} cannot work in objects of the application", kName);
    }
    std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    HET_ASSIGN(auto streams,
               StreamExecutor::create({stream_count(properties), std::string(kName), {}}));
    return std::make_shared<RefCompiledModel>(model, std::move(prepared), properties,
                                              std::move(streams));
  }
};

}  // namespace

Result<std::shared_ptr<Device>> make_device(Core&, std::string_view id) {
  if (!id.empty()) {
    return error(StatusCode::NotFound, "there is no device {}.{}: {} exists once", kName, id,
                 kName);
  }
  return std::make_shared<RefDevice>();
}

}  // namespace het::ref
