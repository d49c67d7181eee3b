#include "devices/vpu/vpu_device.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "devices/vpu/vpu_compiled_model.h"
#include "devices/vpu/vpu_link.h"
#include "inference/passes/prepare_model.h"
#include "inference/properties.h"

namespace het::vpu {
namespace {

constexpr std::string_view kKind = "VPU";

bool has_type(const Welcome& device, ElementType type) {
  return std::ranges::find(device.types, type) != device.types.end();
}

/// Why the device does not run a node; empty when it does.
std::string refusal(const Welcome& device, const Node& node) {
  const std::string type = node.qualified_type();
  if (std::ranges::find(device.operators, type) == device.operators.end()) {
    return fmt::format("a {} has no operator {}", device.profile, type);
  }
  for (const auto* values : {&node.inputs(), &node.outputs()}) {
    for (const Value* value : *values) {
      if (value == nullptr) continue;
      if (!has_type(device, value->desc().type)) {
        return fmt::format("a {} has no {} values", device.profile, to_string(value->desc().type));
      }
      if (!value->desc().is_static()) return "the size of a value is known at run time only";
    }
  }
  return {};
}

class VpuDevice final : public Device {
 public:
  VpuDevice(std::string name, std::string path)
      : name_(std::move(name)), link_(std::make_shared<VpuLink>(std::move(path))) {}

  std::string_view name() const override { return name_; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, kKind));
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(kKind);
    if (def->name == "DEVICE_TYPE") return "discrete";
    if (def->name == "EXECUTION_DEVICES") return name_;
    if (def->name == "OPTIMIZATION_CAPABILITIES") return "FP16";
    if (def->name == "FULL_DEVICE_NAME" || def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
      HET_ASSIGN(const std::shared_ptr<Connection> connection, link_->connection());
      const Welcome& device = connection->welcome();
      if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") return std::to_string(device.credits);
      return fmt::format("VPU of profile {} ({})", device.profile, device.firmware);
    }
    if (def->name == "RANGE_FOR_STREAMS") return "1 1";
    return std::string(def->default_value);
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties&) const override {
    HET_ASSIGN(const std::shared_ptr<Connection> connection, link_->connection());
    const std::unique_ptr<Model> prepared = model.clone();
    HET_ASSIGN(const std::vector<NodeFailure> failures, prepare_model_for_query(*prepared));
    return query_rows(model, *prepared, failures, name_,
                      [&](const Node& node) { return refusal(connection->welcome(), node); });
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    if (context != nullptr) {
      return error(StatusCode::NotSupported, "{} cannot work in objects of the application", name_);
    }
    HET_ASSIGN(const std::shared_ptr<Connection> connection, link_->connection());
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    std::string refused;
    for (const auto& node : prepared->nodes()) {
      const std::string reason = refusal(connection->welcome(), *node);
      if (reason.empty()) continue;
      refused += fmt::format("{}node '{}': {}", refused.empty() ? "" : "; ", node->name(), reason);
    }
    if (!refused.empty()) {
      return error(StatusCode::NotSupported, "{} does not run model '{}': {}", name_, model.name(),
                   refused);
    }
    return VpuCompiledModel::create(name_, link_, *prepared, properties);
  }

 private:
  const std::string name_;
  const std::shared_ptr<VpuLink> link_;
};

Result<std::shared_ptr<Device>> device_of_profile(const std::string& name, std::string_view profile,
                                                  const std::vector<std::string>& sockets) {
  std::string found;
  for (const std::string& socket : sockets) {
    const auto connection = Connection::open(socket, {});
    const std::string is = connection ? (*connection)->welcome().profile : "one that says nothing";
    if (is == profile) return std::make_shared<VpuDevice>(name, socket);
    found += (found.empty() ? "" : ", ") + is;
  }
  return error(StatusCode::NotFound, "there is no VPU of profile {}; there is {}", profile, found);
}

}  // namespace

Result<std::shared_ptr<Device>> make_device(Core&, std::string_view id) {
  const std::vector<std::string> sockets = vpu_sockets();
  if (sockets.empty()) {
    return error(StatusCode::NotFound,
                 "there is no VPU{}: no socket of a device program (hetero-vpud) in '{}', which "
                 "HETERO_VPU_FOLDER can name",
                 id.empty() ? "" : fmt::format(".{}", id), vpu_folder());
  }
  const std::string name = id.empty() ? std::string(kKind) : fmt::format("{}.{}", kKind, id);
  size_t number = 0;
  const auto [end, failure] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (!id.empty() && (failure != std::errc() || end != id.data() + id.size())) {
    return device_of_profile(name, id, sockets);
  }
  if (number >= sockets.size()) {
    return error(StatusCode::NotFound, "there is no device {}: '{}' has {} socket(s)", name,
                 vpu_folder(), sockets.size());
  }
  return std::make_shared<VpuDevice>(name, sockets[number]);
}

std::vector<std::string> device_ids() {
  const size_t count = vpu_sockets().size();
  if (count == 1) return {""};
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(std::to_string(i));
  return ids;
}

}  // namespace het::vpu
