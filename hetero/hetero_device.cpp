#include "hetero/hetero_device.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <utility>

#include "hetero/affinity.h"
#include "hetero/device_list.h"
#include "hetero/explain.h"
#include "hetero/graph_dump.h"
#include "hetero/hetero_compiled_model.h"
#include "hetero/placement.h"
#include "hetero/plan_store.h"
#include "hetero/policy.h"
#include "inference/dynamic_model.h"
#include "inference/log.h"
#include "inference/passes/prepare_model.h"
#include "inference/ports.h"

namespace het::hetero {
namespace {

constexpr std::string_view kName = "HETERO";

/// What stays here; everything else goes to the devices that know it.
constexpr std::array<std::string_view, 5> kOwn = {"HETERO_AFFINITY", "HETERO_DUMP_GRAPH_DOT",
                                                  "HETERO_POLICY", "HETERO_STRICT",
                                                  "MULTI_DEVICE_PRIORITIES"};

bool wants_dump(const Properties& properties) {
  if (property_boolean(properties, "HETERO_DUMP_GRAPH_DOT")) return true;
  // OpenVINO's switch: any value but these.
  const char* const variable = std::getenv("OPENVINO_HETERO_VISUALIZE");
  if (variable == nullptr) return false;
  const std::string_view value = variable;
  return !value.empty() && value != "0" && value != "NO" && value != "OFF" && value != "FALSE";
}

/// HETERO_AFFINITY is a file or the rules themselves.
Result<AffinityRules> affinity_rules(const Properties& properties) {
  const std::string text = property_text(properties, "HETERO_AFFINITY");
  if (text.empty()) return AffinityRules();
  if (text.starts_with('{')) return AffinityRules::parse(text, "HETERO_AFFINITY");
  return AffinityRules::read(text);
}

/// Measuring is what DETERMINISTIC excludes.
Policy policy_for(const Properties& properties) {
  return property_boolean(properties, "DETERMINISTIC") ? Policy::Priority : policy_of(properties);
}

/// For nodes of the user's model what was decided for the prepared one's.
std::vector<NodeSupport> rows_of(const Model& original, const Model& prepared,
                                 const Placement& placement, const SupportTable& table) {
  std::map<std::string_view, size_t> stand_ins;
  for (size_t n = 0; n < prepared.nodes().size(); ++n) {
    for (const std::string& name : prepared.nodes()[n]->original_names()) {
      const auto [place, is_new] = stand_ins.emplace(name, n);
      if (!is_new && placement.devices[n] == Placement::kNowhere) place->second = n;
    }
  }
  std::vector<NodeSupport> rows;
  for (const auto& node : original.nodes()) {
    NodeSupport row{node->name(), node->qualified_type(), {}, {}};
    const auto stand_in = stand_ins.find(node->name());
    if (stand_in == stand_ins.end()) {
      row.device = table.devices().back().member->name;
      row.reason = "folded or removed when compiled";
    } else {
      const size_t device = placement.devices[stand_in->second];
      if (device != Placement::kNowhere) row.device = table.devices()[device].member->name;
      row.reason = placement.reasons[stand_in->second];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

class HeteroDevice final : public Device {
 public:
  HeteroDevice(std::string_view arguments, std::vector<MemberDevice> members)
      : full_name_(arguments.empty() ? std::string(kName) : fmt::format("{}:{}", kName, arguments)),
        members_(std::move(members)) {}

  std::string_view name() const override { return kName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, full_name_));
    if (def->name == "FULL_DEVICE_NAME") return "One model over several devices";
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(full_name_);
    if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(full_name_).arguments;
    if (std::ranges::find(kOwn, def->name) != kOwn.end()) return std::string(def->default_value);
    for (const MemberDevice& member : members_) {
      const auto value = member.defaults.find(std::string(def->name));
      if (value != member.defaults.end()) return value->second;
      if (auto answer = member.device->get_property(def->name)) return answer;
    }
    return std::string(def->default_value);
  }

  /// What all of them take: pictures go to whichever reads them.
  std::vector<MemoryKind> direct_memory_kinds() const override {
    if (members_.empty()) return Device::direct_memory_kinds();
    std::vector<MemoryKind> kinds = members_[0].device->direct_memory_kinds();
    for (const MemberDevice& member : members_) {
      const std::vector<MemoryKind> others = member.device->direct_memory_kinds();
      std::erase_if(
          kinds, [&](MemoryKind kind) { return std::ranges::find(others, kind) == others.end(); });
    }
    return kinds;
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_TRY(check_members());
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model_for_query(*prepared));
    HET_ASSIGN(SupportTable table, support_table(model, *prepared, properties));
    HET_ASSIGN(const Placement placement, place_by_priority(*prepared, table));
    return rows_of(model, *prepared, placement, table);
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    HET_TRY(check_members());
    if (context != nullptr) {
      return error(StatusCode::NotSupported,
                   "{} cannot work in objects of the application: give the context to a compile "
                   "for the device alone",
                   kName);
    }
    const std::unique_ptr<Model> prepared = model.clone();
    HET_TRY(prepare_model(*prepared));
    HET_ASSIGN(SupportTable table, support_table(model, *prepared, properties));
    PlanStore store(properties, table);
    const auto compile = [&](const Split& split) {
      return compile_split(*prepared, split, table, properties);
    };
    HET_ASSIGN(PlanReport report,
               plan_by_policy(policy_for(properties), *prepared, table, store, compile));
    PlanCandidate& chosen = report.candidates[report.chosen];
    if (wants_dump(properties)) HET_TRY(dump(*prepared, chosen.placement, table));
    const std::string text = explain(*prepared, report, table);
    log(LogLevel::Info, "model '{}' on {}:\n{}", model.name(), full_name_, text);
    const auto compiled = std::static_pointer_cast<HeteroCompiledModel>(chosen.compiled);
    compiled->set_explanation(text);
    return compiled;
  }

 private:
  Status check_members() const {
    if (!members_.empty()) return {};
    return error(StatusCode::InvalidArgument,
                 "{} needs devices to distribute a model over: {}:GPU,CPU, or GPU,CPU in "
                 "MULTI_DEVICE_PRIORITIES",
                 kName, kName);
  }

  Result<SupportTable> support_table(const Model& original, const Model& prepared,
                                     const Properties& properties) const {
    std::vector<PlacementDevice> devices;
    for (const MemberDevice& member : members_) {
      devices.push_back({&member, member_properties(member, properties, kOwn)});
    }
    HET_ASSIGN(const auto wishes, wishes_of(original, prepared, properties));
    return SupportTable::create(prepared, std::move(devices), wishes);
  }

  /// Of the user's model, since rules may name nodes that are folded or removed when prepared.
  Result<std::vector<AffinityWish>> wishes_of(const Model& original, const Model& prepared,
                                              const Properties& properties) const {
    HET_ASSIGN(const AffinityRules rules, affinity_rules(properties));
    std::vector<std::string> names;
    for (const MemberDevice& member : members_) {
      names.push_back(member.name);
      names.push_back(parse_device_name(member.name).kind);
    }
    HET_ASSIGN(const std::vector<AffinityWish> given, find_wishes(original, rules, names));
    std::unordered_map<std::string_view, const AffinityWish*> by_name;
    for (size_t n = 0; n < given.size(); ++n) {
      if (!given[n].device.empty()) by_name[original.nodes()[n]->name()] = &given[n];
    }
    const bool is_strict = property_boolean(properties, "HETERO_STRICT");
    std::vector<AffinityWish> wishes(prepared.nodes().size());
    for (size_t n = 0; n < wishes.size(); ++n) {
      if (is_strict) wishes[n] = {members_[0].name, "HETERO_STRICT"};
      for (const std::string& name : prepared.nodes()[n]->original_names()) {
        const auto wish = by_name.find(name);
        if (wish != by_name.end()) wishes[n] = *wish->second;
      }
    }
    return wishes;
  }

  Status dump(const Model& prepared, const Placement& placement, const SupportTable& table) const {
    HET_ASSIGN(std::vector<std::string> paths,
               dump_affinity(prepared, rows_of(prepared, prepared, placement, table)));
    if (!placement.split.subgraphs.empty()) {
      HET_ASSIGN(const std::vector<std::string> more, dump_subgraphs(prepared, placement.split));
      paths.insert(paths.end(), more.begin(), more.end());
    }
    for (const std::string& path : paths) log(LogLevel::Info, "wrote {}", path);
    return {};
  }

  Result<std::shared_ptr<CompiledModel>> compile_split(const Model& prepared, const Split& split,
                                                       const SupportTable& table,
                                                       const Properties& properties) const {
    HeteroParts parts;
    parts.name = prepared.name();
    parts.inputs = input_ports(prepared);
    parts.outputs = output_ports(prepared);
    parts.device = full_name_;
    parts.properties = properties;
    for (const Subgraph& subgraph : split.subgraphs) {
      const auto device = std::ranges::find_if(table.devices(), [&](const PlacementDevice& d) {
        return d.member->name == subgraph.device;
      });
      auto compiled = compile_subgraph(*subgraph.model, *device);
      if (!compiled) {
        return Failure(compiled.error().with_context(
            fmt::format("cannot compile {} ({} nodes) for {}", subgraph.name, subgraph.nodes.size(),
                        subgraph.device)));
      }
      parts.subgraphs.push_back(std::move(*compiled));
      parts.memory_kinds.push_back(device->member->device->direct_memory_kinds().size());
      parts.split.subgraphs.push_back({subgraph.name, subgraph.device, subgraph.nodes, nullptr,
                                       subgraph.inputs, subgraph.dependencies});
    }
    parts.split.subgraph_of = split.subgraph_of;
    parts.split.input_readers = split.input_readers;
    parts.split.outputs = split.outputs;
    parts.split.cuts = split.cuts;
    return std::make_shared<HeteroCompiledModel>(std::move(parts));
  }

  /// What reads values that are sized at run time is compiled for the sizes that come.
  static Result<std::shared_ptr<CompiledModel>> compile_subgraph(const Model& model,
                                                                 const PlacementDevice& device) {
    if (check_inputs_static(model).ok()) {
      return device.member->device->compile_model(model, device.properties, nullptr);
    }
    return DynamicCompiledModel::create(model, {device.member->device, device.properties, nullptr});
  }

  const std::string full_name_;
  const std::vector<MemberDevice> members_;  ///< empty for "HETERO" alone
};

}  // namespace

Result<std::shared_ptr<Device>> make_hetero_device(Core& core, std::string_view arguments) {
  std::vector<MemberDevice> members;
  if (!arguments.empty()) {
    HET_ASSIGN(members, parse_device_list(core, kName, arguments));
  }
  return std::make_shared<HeteroDevice>(arguments, std::move(members));
}

}  // namespace het::hetero
