#include "devices/vpu/vpu_device.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "devices/vpu/vpu_compiled_model.h"
#include "devices/vpu/vpu_discovery.h"
#include "devices/vpu/vpu_link.h"
#include "devices/vpu/vpu_metrics.h"
#include "inference/devices/properties.h"
#include "inference/passes/prepare_model.h"

namespace het::vpu {
namespace {

constexpr std::string_view kKind = "VPU";

bool has_type(const Welcome& device, ElementType type) {
  return std::ranges::find(device.types, type) != device.types.end();
}

/// Why the device does not run a node; empty when it does. Nodes that wait for sizes of the model's
/// inputs are judged once these are bound.
std::string refusal(const Welcome& device, const Node& node, bool is_bound) {
  const std::string type = node.qualified_type();
  if (std::ranges::find(device.operators, type) == device.operators.end()) {
    return fmt::format("a {} has no operator {}", device.profile, type);
  }
  if (!is_bound && reads_unknown_sizes(node)) return {};
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
  VpuDevice(std::string name, std::shared_ptr<VpuLink> link)
      : name_(std::move(name)), link_(std::move(link)) {}

  std::string_view name() const override { return name_; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, kKind));
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(kKind);
    if (def->name == "DEVICE_TYPE") return "discrete";
    if (def->name == "EXECUTION_DEVICES") return name_;
    if (def->name == "OPTIMIZATION_CAPABILITIES") return "FP16";
    if (def->name == "VPU_ADDRESSES" || def->name == "VPU_KEY_FILE") {
      return discovery_property(def->name);
    }
    if (is_metric(def->name)) {
      HET_ASSIGN(const std::shared_ptr<Connection> connection, link_->connection());
      return metric(*connection, name_, def->name);
    }
    if (def->name == "RANGE_FOR_STREAMS") return "1 1";
    return std::string(def->default_value);
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties&) const override {
    HET_ASSIGN(const std::shared_ptr<Connection> connection, link_->connection());
    const std::unique_ptr<Model> prepared = model.clone();
    HET_ASSIGN(const std::vector<NodeFailure> failures, prepare_model_for_query(*prepared));
    const bool is_bound = check_inputs_static(*prepared).ok();
    return query_rows(model, *prepared, failures, name_, [&](const Node& node) {
      return refusal(connection->welcome(), node, is_bound);
    });
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
      const std::string reason = refusal(connection->welcome(), *node, true);
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

bool is_number(std::string_view id) {
  return std::ranges::all_of(id, [](char c) { return c >= '0' && c <= '9'; });
}

/// The device of a profile, or the first that answers; the address that it had before is preferred.
Result<VpuLink::Found> find_device(const std::string& name, const std::string& profile,
                                   const std::string& last_address) {
  std::vector<std::string> addresses = vpu_addresses();
  const auto last = std::ranges::find(addresses, last_address);
  if (last != addresses.end()) std::rotate(addresses.begin(), last, last + 1);
  std::string seen;
  for (const std::string& address : addresses) {
    const auto connection = connect_vpu(address);
    const std::string is =
        connection ? "profile " + (*connection)->welcome().profile : connection.error().message();
    if (connection && (profile.empty() || (*connection)->welcome().profile == profile)) {
      return VpuLink::Found{address, *connection};
    }
    seen += (seen.empty() ? "" : ", ") + is;
  }
  if (seen.empty()) {
    return error(StatusCode::NotFound, "there is no {}: no device program (hetero-vpud) in {}",
                 name, vpu_addresses_text());
  }
  return error(StatusCode::NotFound, "there is no {}; there is: {}", name, seen);
}

/// One with a number stays where it was found.
Result<VpuLink::Found> connect_numbered(const std::string& name, const std::string& address) {
  auto connection = connect_vpu(address);
  if (!connection) return Failure(connection.error().with_context(name));
  return VpuLink::Found{address, std::move(*connection)};
}

}  // namespace

Result<std::shared_ptr<Device>> make_device(Core&, std::string_view id) {
  const std::string name = id.empty() ? std::string(kKind) : fmt::format("{}.{}", kKind, id);
  VpuLink::Find find;
  std::string address;
  if (!id.empty() && is_number(id)) {
    const std::vector<std::string> addresses = vpu_addresses();
    size_t number = addresses.size();
    std::from_chars(id.data(), id.data() + id.size(), number);
    if (number >= addresses.size()) {
      return error(StatusCode::NotFound, "there is no {}: {} device program(s) (hetero-vpud) in {}",
                   name, addresses.size(), vpu_addresses_text());
    }
    address = addresses[number];
    find = [name](const std::string& last) { return connect_numbered(name, last); };
  } else {
    find = [name, profile = std::string(id)](const std::string& last) {
      return find_device(name, profile, last);
    };
  }
  HET_ASSIGN(VpuLink::Found found, find(address));
  return std::make_shared<VpuDevice>(name,
                                     std::make_shared<VpuLink>(std::move(find), std::move(found)));
}

std::vector<std::string> device_ids() {
  const size_t count = vpu_addresses().size();
  if (count == 1) return {""};
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(std::to_string(i));
  return ids;
}

}  // namespace het::vpu
