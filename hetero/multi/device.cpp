#include "hetero/multi/device.h"

#include <algorithm>
#include <array>
#include <utility>

#include "hetero/members/optimal_requests.h"
#include "hetero/multi/compiled_model.h"
#include "inference/device_registry.h"
#include "inference/devices/properties.h"

namespace het::hetero {
namespace {

constexpr std::string_view kMultiName = "MULTI";
constexpr std::array<std::string_view, 3> kMultiProperties = {
    "ENABLE_RUNTIME_FALLBACK", "HETERO_RETRY_INTERVAL", "MULTI_DEVICE_PRIORITIES"};
/// Who gives one of these has chosen for what the devices are set up.
constexpr std::array<std::string_view, 3> kSetUp = {"INFERENCE_NUM_THREADS", "NUM_STREAMS",
                                                    "PERFORMANCE_HINT"};

/// Several devices are used for many requests.
Properties with_hint(const MemberDevice& member, Properties properties) {
  if (property_text(properties, "PERFORMANCE_HINT") == "CUMULATIVE_THROUGHPUT") {
    properties["PERFORMANCE_HINT"] = "THROUGHPUT";
  }
  const bool is_given = std::ranges::any_of(
      kSetUp, [&](std::string_view name) { return properties.contains(std::string(name)); });
  if (!is_given && find_property("PERFORMANCE_HINT", parse_device_name(member.name).kind)) {
    properties["PERFORMANCE_HINT"] = "THROUGHPUT";
  }
  return properties;
}

class MultiDevice final : public Device {
 public:
  MultiDevice(std::string_view arguments, std::vector<LimitedMember> members)
      : full_name_(arguments.empty() ? std::string(kMultiName)
                                     : fmt::format("{}:{}", kMultiName, arguments)),
        members_(std::move(members)) {}

  std::string_view name() const override { return kMultiName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, full_name_));
    if (def->name == "FULL_DEVICE_NAME") return "Requests over several devices";
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(full_name_);
    if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(full_name_).arguments;
    return property_of_members(devices_of(members_), *def);
  }

  std::vector<MemoryKind> direct_memory_kinds() const override {
    return common_memory_kinds(devices_of(members_));
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_TRY(check_members());
    return query_any(members_, model, properties, kMultiProperties);
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    HET_TRY(check_members());
    HET_TRY(refuse_context(kMultiName, context));
    return compile_for_all(full_name_, members_, model, properties, kMultiProperties);
  }

 private:
  Status check_members() const {
    if (!members_.empty()) return {};
    return error(StatusCode::InvalidArgument,
                 "{} needs devices to give requests to: {}:GPU,CPU, or GPU,CPU in "
                 "MULTI_DEVICE_PRIORITIES",
                 kMultiName, kMultiName);
  }

  const std::string full_name_;
  const std::vector<LimitedMember> members_;  ///< empty for "MULTI" alone
};

}  // namespace

Result<std::shared_ptr<CompiledModel>> compile_for_all(const std::string& full_name,
                                                       const std::vector<LimitedMember>& members,
                                                       const Model& model,
                                                       const Properties& properties,
                                                       std::span<const std::string_view> own) {
  MultiParts parts{
      full_name, {}, properties, std::make_shared<DeviceEvents>(model.name(), full_name)};
  const bool with_accelerator = std::ranges::any_of(
      members, [](const LimitedMember& limited) { return is_accelerator(limited.member); });
  std::string reasons;
  for (const LimitedMember& limited : members) {
    const MemberDevice& member = limited.member;
    Properties its = with_hint(member, member_properties(member, properties, own));
    if (with_accelerator) spare_a_core(member, its);
    auto compiled = member.device->compile_model(model, its, nullptr);
    Status status = compiled ? Status() : compiled.error();
    if (status.ok() && !parts.members.empty()) {
      status = check_same_ports(*parts.members[0].model, **compiled);
    }
    if (!status.ok()) {
      reasons += fmt::format("\n  {}: {}", member.name, status.message());
      parts.events->add({member.name, status.message()});
      continue;
    }
    const size_t limit = limited.limit.value_or(optimal_requests(**compiled));
    parts.members.push_back(
        {member.name, std::move(*compiled), limit, member.device->direct_memory_kinds().size()});
  }
  if (parts.members.empty()) {
    return error(StatusCode::NotSupported, "none of the devices runs the model:{}", reasons);
  }
  return MultiCompiledModel::create(std::move(parts));
}

Result<std::vector<NodeSupport>> query_any(const std::vector<LimitedMember>& members,
                                           const Model& model, const Properties& properties,
                                           std::span<const std::string_view> own) {
  std::vector<NodeSupport> refused;
  for (const LimitedMember& limited : members) {
    HET_ASSIGN(std::vector<NodeSupport> rows,
               limited.member.device->query_model(
                   model, member_properties(limited.member, properties, own)));
    if (std::ranges::all_of(rows, &NodeSupport::supported)) return rows;
    if (refused.empty()) {
      for (const NodeSupport& row : rows) {
        refused.push_back({row.node_name, row.op_type, limited.member.name, ""});
      }
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].supported()) continue;
      refused[i].device.clear();
      refused[i].reason += fmt::format("{}not {}: {}", refused[i].reason.empty() ? "" : "; ",
                                       limited.member.name, rows[i].reason);
    }
  }
  return refused;
}

Result<std::shared_ptr<Device>> make_multi_device(Core& core, std::string_view arguments) {
  std::vector<LimitedMember> members;
  if (!arguments.empty()) {
    HET_ASSIGN(const std::vector<ListedDevice> entries,
               parse_listed_devices(kMultiName, arguments));
    HET_ASSIGN(members, find_members(core, kMultiName, entries));
  }
  return std::make_shared<MultiDevice>(arguments, std::move(members));
}

}  // namespace het::hetero
