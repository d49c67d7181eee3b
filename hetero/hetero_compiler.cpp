#include "hetero/hetero_compiler.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "hetero/execution/hetero_compiled_model.h"
#include "hetero/explain/explain.h"
#include "hetero/explain/graph_dump.h"
#include "hetero/members/zero_request.h"
#include "hetero/multi/compiled_model.h"
#include "hetero/placement/candidate_timing.h"
#include "hetero/placement/device_profile.h"
#include "hetero/placement/pipeline_placement.h"
#include "hetero/placement/plan_drift.h"
#include "hetero/placement/plan_store.h"
#include "hetero/placement/policy.h"
#include "hetero/split/stages.h"
#include "inference/base/checksum.h"
#include "inference/base/log.h"
#include "inference/devices/ports.h"
#include "inference/model/source_path.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "inference/requests/dynamic_model.h"

namespace het::hetero {
namespace {

constexpr size_t kMostNamedWithLosses = 3;

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

/// Zero: plans are not judged while they run.
std::chrono::milliseconds replan_interval(const Properties& properties) {
  if (property_boolean(properties, "DETERMINISTIC")) return {};
  return std::chrono::milliseconds(property_integer(properties, "HETERO_REPLAN_INTERVAL"));
}

Status check_replan_interval(const Properties& properties) {
  if (replan_interval(properties).count() == 0) return {};
  const auto refused = [](const char* what) {
    return error(StatusCode::InvalidArgument,
                 "HETERO_REPLAN_INTERVAL judges plans by what was measured when they were made: it "
                 "needs {}",
                 what);
  };
  if (policy_of(properties) == Policy::Priority) {
    return refused("HETERO_POLICY=latency, parallel or throughput");
  }
  if (!property_boolean(properties, "HETERO_FAIL_OVER")) return refused("HETERO_FAIL_OVER=YES");
  if (property_boolean(properties, "HETERO_STRICT")) return refused("HETERO_STRICT=NO");
  return {};
}

Executor executor_for(const Properties& properties) {
  const std::string text = property_text(properties, "HETERO_EXECUTOR");
  if (text == "LINEAR") return Executor::Linear;
  if (text == "DATAFLOW") return Executor::Dataflow;
  if (text == "PARALLEL") return Executor::Parallel;
  // What this policy plans for.
  return policy_for(properties) == Policy::Latency ? Executor::Linear : Executor::Parallel;
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

/// Subgraphs are to take what the plan was made from, unless that was measured.
void expect_costs(const HeteroPlan& plan, const std::vector<size_t>& devices,
                  const CostModel& costs) {
  for (const Subgraph& subgraph : plan.split.subgraphs) {
    const size_t i = static_cast<size_t>(&subgraph - plan.split.subgraphs.data());
    const std::chrono::duration<double> time(
        costs.seconds(subgraph.nodes, devices[subgraph.nodes[0]]));
    plan.times->expect(i, std::chrono::duration_cast<PlanTimes::Duration>(time));
  }
}

/// What reads values that are sized at run time is compiled for the sizes that come.
Result<std::shared_ptr<CompiledModel>> compile_subgraph(const Model& model,
                                                        const MemberDevice& member,
                                                        const Properties& properties,
                                                        std::shared_ptr<DeviceContext> context) {
  if (check_inputs_static(model).ok()) {
    return member.device->compile_model(model, properties, context.get());
  }
  return DynamicCompiledModel::create(model, {member.device, properties, std::move(context)});
}

}  // namespace

Result<std::shared_ptr<HeteroCompiler>> HeteroCompiler::create(const Model& model,
                                                               std::string device,
                                                               std::vector<MemberDevice> members,
                                                               Properties properties, bool is_query,
                                                               MemberContext context) {
  std::shared_ptr<HeteroCompiler> compiler(new HeteroCompiler(
      std::move(device), std::move(members), std::move(properties), std::move(context)));
  HET_ASSIGN(compiler->by_memory_, is_pipeline_parallel(compiler->properties_));
  HET_TRY(check_replan_interval(compiler->properties_));
  compiler->prepared_ = model.clone();
  compiler->source_path_ = property_text(compiler->properties_, "WEIGHTS_PATH");
  if (compiler->source_path_.empty()) compiler->source_path_ = source_path(model);
  if (!compiler->source_path_.empty()) {
    std::error_code no_folder;
    compiler->source_path_ = std::filesystem::absolute(compiler->source_path_, no_folder).string();
  }
  compiler->events_ = std::make_shared<DeviceEvents>(model.name(), compiler->device_);
  if (is_query) {
    HET_TRY(prepare_model_for_query(*compiler->prepared_));
  } else {
    HET_TRY(prepare_model(*compiler->prepared_));
  }
  HET_ASSIGN(compiler->wishes_, compiler->find_all_wishes(model));
  return compiler;
}

HeteroCompiler::HeteroCompiler(std::string device, std::vector<MemberDevice> members,
                               Properties properties, MemberContext context)
    : device_(std::move(device)),
      members_(std::move(members)),
      properties_(std::move(properties)),
      context_(std::move(context)) {}

/// Of the user's model, since rules may name nodes that are folded or removed when prepared.
Result<std::vector<AffinityWish>> HeteroCompiler::find_all_wishes(const Model& original) const {
  HET_ASSIGN(const AffinityRules rules, affinity_rules(properties_));
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
  const bool is_strict = property_boolean(properties_, "HETERO_STRICT");
  std::vector<AffinityWish> wishes(prepared_->nodes().size());
  for (size_t n = 0; n < wishes.size(); ++n) {
    if (is_strict) wishes[n] = {members_[0].name, "HETERO_STRICT"};
    for (const std::string& name : prepared_->nodes()[n]->original_names()) {
      const auto wish = by_name.find(name);
      if (wish != by_name.end()) wishes[n] = *wish->second;
    }
  }
  return wishes;
}

/// Nodes that were wished onto a lost device go where others would.
Result<SupportTable> HeteroCompiler::support_table(const LostDevices& lost) const {
  std::vector<PlacementDevice> devices;
  for (const MemberDevice& member : members_) {
    if (lost.contains(member.name)) continue;
    devices.push_back({&member, member_properties(member, properties_, kOwnProperties)});
  }
  if (std::ranges::any_of(devices,
                          [](const auto& device) { return is_accelerator(*device.member); })) {
    for (PlacementDevice& device : devices) spare_a_core(*device.member, device.properties);
  }
  if (devices.empty()) return error(StatusCode::DeviceLost, "no device is left");
  std::vector<AffinityWish> wishes = wishes_;
  for (AffinityWish& wish : wishes) {
    const bool is_there = std::ranges::any_of(devices, [&](const PlacementDevice& device) {
      return device.member->name == wish.device ||
             parse_device_name(device.member->name).kind == wish.device;
    });
    if (!lost.empty() && !is_there) wish = {};
  }
  HET_ASSIGN(SupportTable table, SupportTable::create(*prepared_, std::move(devices), wishes));
  // The user learns of a loss from whatever request it meets, again and again.
  if (!lost.empty()) table.set_most_named(kMostNamedWithLosses);
  if (by_memory_) limit_to_memory(*prepared_, table);
  return table;
}

Result<std::vector<NodeSupport>> HeteroCompiler::query(const Model& original) const {
  HET_ASSIGN(SupportTable table, support_table({}));
  HET_ASSIGN(const Placement placement, place_by_priority(*prepared_, table));
  return rows_of(original, *prepared_, placement, table);
}

Result<std::shared_ptr<CompiledModel>> HeteroCompiler::compile() {
  const bool may_fail_over = members_.size() > 1 &&
                             property_boolean(properties_, "HETERO_FAIL_OVER") &&
                             !property_boolean(properties_, "HETERO_STRICT");
  LostDevices lost;
  HET_ASSIGN(auto plan, may_fail_over ? make_plan_without(lost) : make_plan(lost));
  for (const auto& [name, cause] : lost) events_->add({name, cause});
  std::unique_ptr<FailOver> fail_over;
  if (may_fail_over) {
    HET_ASSIGN(fail_over, make_fail_over(plan, std::move(lost)));
  }
  return wrap(std::move(plan), std::move(fail_over));
}

Result<std::shared_ptr<const PlanMix>> HeteroCompiler::make_plan_without(LostDevices& lost) {
  while (true) {
    failed_device_.clear();
    auto plan = make_plan(lost);
    if (plan) return plan;
    const Status& cause = plan.error();
    if (failed_device_.empty() || !blames_device(cause) || lost.size() + 1 == members_.size()) {
      return plan;
    }
    lost.emplace(failed_device_, cause.message());
  }
}

Result<std::shared_ptr<const PlanMix>> HeteroCompiler::make_plan(const LostDevices& lost) {
  HET_ASSIGN(SupportTable table, support_table(lost));
  PlanStore plans(properties_, table);
  // What is known about lost devices counts again when they return.
  auto of_plan = std::make_unique<ProfileStore>(properties_, table);
  ProfileStore& profiles = *of_plan;
  if (lost.empty()) profiles_ = std::move(of_plan);
  HET_ASSIGN(PlanReport report, plan_by_policy(plan_options(lost), *prepared_, table,
                                               {plans, profiles}, plan_factory()));
  // Of several placements the one that most executions take.
  if (wants_dump(properties_)) {
    HET_TRY(dump(report.candidates[report.chosen].ways[0].placement, table));
  }
  if (lost.empty()) return take(std::move(report), table, {});
  return mix_with_text(report, table, {});
}

std::shared_ptr<const PlanMix> HeteroCompiler::mix_with_text(const PlanReport& report,
                                                             const SupportTable& table,
                                                             const std::string& cause) const {
  std::string text = explain(*prepared_, report, table);
  for (const std::string& more : {table.note(), cause}) {
    if (!more.empty()) text += "\n" + more;
  }
  log(LogLevel::Info, "model '{}' on {}:\n{}", prepared_->name(), device_, text);
  return mix_of(report.candidates[report.chosen], std::move(text));
}

PlanOptions HeteroCompiler::plan_options(const LostDevices& lost) const {
  return {.policy = lost.empty() ? policy_for(properties_) : Policy::Priority,
          .explain = property_boolean(properties_, "HETERO_EXPLAIN"),
          .mixes = property_boolean(properties_, "HETERO_MIXES"),
          .keeps_costs = lost.empty() && replan_interval(properties_).count() > 0};
}

PlanFactory HeteroCompiler::plan_factory() {
  return {[this](const Split& split, bool with_accelerator) {
            return compile_split(split, with_accelerator);
          },
          [this](std::shared_ptr<const PlanMix> plan) { return wrap(std::move(plan)); }};
}

std::shared_ptr<const PlanMix> HeteroCompiler::take(PlanReport report, const SupportTable& table,
                                                    const std::string& cause) {
  const PlanCandidate& chosen = report.candidates[report.chosen];
  first_ = to_stored(chosen);
  for (const CandidateWay& way : chosen.ways) {
    if (!report.costs) break;
    way.compiled->times->settle();
    expect_costs(*way.compiled, way.placement.devices, *report.costs);
  }
  auto plan = mix_with_text(report, table, cause);
  report_.reset();
  if (report.costs) {
    // Splits are for comparison now, and the plan has what is compiled.
    for (PlanCandidate& candidate : report.candidates) {
      for (CandidateWay& way : candidate.ways) {
        way.compiled = nullptr;
        for (Subgraph& subgraph : way.placement.split.subgraphs) subgraph.model = nullptr;
      }
    }
    report_ = std::move(report);
  }
  return plan;
}

Result<std::shared_ptr<const PlanMix>> HeteroCompiler::judge(const PlanMix& plan) {
  if (!report_ || !profiles_) return nullptr;
  HET_ASSIGN(SupportTable table, support_table({}));
  const PlanDrift drift = find_drift(plan, table, prepared_->nodes().size());
  if (drift.text.empty()) return nullptr;
  PlanStore plans(properties_, table);
  HET_ASSIGN(std::optional<PlanReport> report,
             plan_again(plan_options({}), *prepared_, table, {plans, *profiles_}, plan_factory(),
                        *report_, drift.changes));
  if (!report) {
    for (const SpeedChange& change : drift.changes) {
      report_->costs->correct(change.nodes, change.device, change.factor);
    }
    for (const PlanWay& way : plan.ways()) way.plan->times->accept();
    log(LogLevel::Info, "model '{}' on {}: {}; no other plan is better", prepared_->name(), device_,
        drift.text);
    return nullptr;
  }
  const std::string cause = fmt::format("made anew while requests run: {}; '{}' instead of '{}'",
                                        drift.text, report->candidates[report->chosen].name,
                                        report_->candidates[report_->chosen].name);
  log(LogLevel::Warning, "model '{}' on {}: the plan is {}", prepared_->name(), device_, cause);
  return take(std::move(*report), table, cause);
}

Result<std::shared_ptr<const PlanMix>> HeteroCompiler::first_plan_again() {
  if (first_.ways.empty()) return make_plan({});
  const bool with_accelerator = std::ranges::any_of(first_.ways, [&](const StoredWay& way) {
    return std::ranges::any_of(way.devices, [&](size_t d) { return is_accelerator(members_[d]); });
  });
  std::vector<PlanWay> ways;
  for (const StoredWay& way : first_.ways) {
    std::vector<std::string> names;
    for (const size_t d : way.devices) names.push_back(members_[d].name);
    HET_ASSIGN(const Split split,
               way.in_stages ? split_in_stages(*prepared_, names) : split_model(*prepared_, names));
    HET_ASSIGN(std::shared_ptr<const HeteroPlan> plan, compile_split(split, with_accelerator));
    if (report_) expect_costs(*plan, way.devices, *report_->costs);
    ways.push_back({std::move(plan), way.share});
  }
  return std::make_shared<const PlanMix>(std::move(ways), first_.requests);
}

Result<std::shared_ptr<HeteroPlan>> HeteroCompiler::compile_split(const Split& split,
                                                                  bool with_accelerator) {
  std::vector<std::shared_ptr<CompiledModel>> models;
  std::vector<size_t> memory_kinds;
  std::vector<std::vector<MemoryKind>> in_place;
  HET_ASSIGN(const CutTypes types, choose_cut_types(split, crossing_rules()));
  for (size_t i = 0; i < split.subgraphs.size(); ++i) {
    const Subgraph& subgraph = split.subgraphs[i];
    const auto member = std::ranges::find(members_, subgraph.device, &MemberDevice::name);
    const Model& model = types.models[i] != nullptr ? *types.models[i] : *subgraph.model;
    Properties properties = member_properties(*member, properties_, kOwnProperties);
    if (with_accelerator) spare_a_core(*member, properties);
    auto compiled = compile_subgraph(model, *member, properties, context_.of(*member));
    if (!compiled) {
      failed_device_ = subgraph.device;
      return Failure(compiled.error().with_context(
          fmt::format("cannot compile {} ({} nodes) for {}", subgraph.name, subgraph.nodes.size(),
                      subgraph.device)));
    }
    models.push_back(std::move(*compiled));
    memory_kinds.push_back(member->device->direct_memory_kinds().size());
    in_place.push_back(kinds_in_place(*member, context_));
  }
  auto plan = std::make_shared<HeteroPlan>(split, std::move(models), std::move(memory_kinds),
                                           executor_for(properties_));
  plan->in_place = std::move(in_place);
  for (size_t i = 0; i < types.descs.size(); ++i) plan->split.cuts[i].desc = types.descs[i];
  if (replan_interval(properties_).count() > 0) {
    std::vector<DeviceLoads::Count> loads;
    for (const Subgraph& subgraph : split.subgraphs) {
      loads.push_back(loads_->count(subgraph.device));
    }
    plan->times = std::make_shared<PlanTimes>(std::move(loads));
  }
  for (const Subgraph& subgraph : split.subgraphs) {
    std::vector<std::string>& names = plan->node_names.emplace_back();
    for (const size_t node : subgraph.nodes) {
      const auto& originals = prepared_->nodes()[node]->original_names();
      names.insert(names.end(), originals.begin(), originals.end());
    }
  }
  return plan;
}

Result<Split> HeteroCompiler::split_again(const HeteroPlan& plan) const {
  std::vector<std::string> names;
  for (const size_t subgraph : plan.split.subgraph_of) {
    names.push_back(plan.split.subgraphs[subgraph].device);
  }
  for (const auto& split_by : {split_model, split_in_stages}) {
    HET_ASSIGN(Split split, split_by(*prepared_, names));
    if (std::ranges::equal(split.subgraphs, plan.split.subgraphs, {}, &Subgraph::nodes,
                           &Subgraph::nodes)) {
      return split;
    }
  }
  return error(StatusCode::Internal, "the plan cannot be made again");
}

Result<uint64_t> HeteroCompiler::fingerprint() const {
  std::string text = print_model(*prepared_);
  for (const auto& value : prepared_->values()) {
    if (!value->is_constant()) continue;
    const Tensor& content = value->constant();
    text += fmt::format("{} {:016x}\n", value->name(),
                        checksum(std::span(content.bytes(), content.size_bytes())));
  }
  return checksum(text);
}

Result<ExportedSource> HeteroCompiler::source() const {
  ExportedSource source;
  source.path = source_path_;
  HET_ASSIGN(source.fingerprint, fingerprint());
  return source;
}

/// By the names of the file's nodes that subgraphs run.
Status HeteroCompiler::find_nodes(HeteroPlan& plan) const {
  std::unordered_map<std::string_view, size_t> subgraph_of;
  for (size_t i = 0; i < plan.node_names.size(); ++i) {
    for (const std::string& name : plan.node_names[i]) subgraph_of.emplace(name, i);
  }
  for (size_t n = 0; n < prepared_->nodes().size(); ++n) {
    const Node& node = *prepared_->nodes()[n];
    const std::vector<std::string>& names = node.original_names();
    const auto known = names.empty() ? subgraph_of.end() : subgraph_of.find(names[0]);
    if (known == subgraph_of.end()) {
      return error(StatusCode::NotSupported, "no subgraph has its node '{}'", node.name());
    }
    plan.split.subgraph_of.push_back(known->second);
    plan.split.subgraphs[known->second].nodes.push_back(n);
  }
  return {};
}

Result<StoredWay> HeteroCompiler::stored_way(const HeteroPlan& plan, double share) const {
  StoredWay way;
  way.share = share;
  std::vector<std::string> names;
  for (const size_t subgraph : plan.split.subgraph_of) {
    names.push_back(plan.split.subgraphs[subgraph].device);
    const auto member = std::ranges::find(members_, names.back(), &MemberDevice::name);
    way.devices.push_back(static_cast<size_t>(member - members_.begin()));
  }
  for (const bool in_stages : {false, true}) {
    HET_ASSIGN(const Split split,
               in_stages ? split_in_stages(*prepared_, names) : split_model(*prepared_, names));
    way.in_stages = in_stages;
    if (std::ranges::equal(split.subgraphs, plan.split.subgraphs, {}, &Subgraph::nodes,
                           &Subgraph::nodes)) {
      return way;
    }
  }
  return error(StatusCode::NotSupported, "its subgraphs would be others in this version");
}

Result<std::shared_ptr<CompiledModel>> HeteroCompiler::adopt(
    std::vector<PlanWay> ways, const std::vector<std::shared_ptr<HeteroPlan>>& plans,
    size_t requests, std::string explanation) {
  first_.requests = requests;
  for (size_t i = 0; i < plans.size(); ++i) {
    HET_TRY(find_nodes(*plans[i]));
    HET_ASSIGN(StoredWay way, stored_way(*plans[i], ways[i].share));
    first_.ways.push_back(std::move(way));
  }
  auto plan = std::make_shared<const PlanMix>(std::move(ways), requests, std::move(explanation));
  HET_ASSIGN(std::unique_ptr<FailOver> fail_over, make_fail_over(plan, {}));
  return wrap(std::move(plan), std::move(fail_over));
}

Result<FailOver::Substitutes> HeteroCompiler::compile_elsewhere(
    const HeteroPlan& plan, const std::vector<size_t>& subgraphs, const LostDevices& lost) const {
  HET_ASSIGN(const Split split, split_again(plan));
  HET_ASSIGN(const CutTypes types, choose_cut_types(split, crossing_rules()));
  std::vector<MemberDevice> members;
  std::string device = "HETERO:";
  for (const MemberDevice& member : members_) {
    if (lost.contains(member.name)) continue;
    device += (members.empty() ? "" : ",") + member.name;
    members.push_back(member);
  }
  Properties properties = properties_;
  for (const char* name :
       {"HETERO_AFFINITY", "HETERO_DUMP_GRAPH_DOT", "HETERO_EXPLAIN", "HETERO_POLICY",
        "HETERO_REPLAN_INTERVAL", "MULTI_DEVICE_PRIORITIES", "WEIGHTS_PATH"}) {
    properties.erase(name);
  }
  properties["HETERO_RETRY_INTERVAL"] = "0";
  const MemberContext context = lost.contains(context_.member) ? MemberContext() : context_;
  FailOver::Substitutes made;
  for (const size_t i : subgraphs) {
    const auto model =
        (types.models[i] != nullptr ? types.models[i] : split.subgraphs[i].model)->clone();
    for (const auto& node : model->nodes()) node->set_affinity({});
    HET_ASSIGN(const auto compiler, create(*model, device, members, properties, false, context));
    HET_ASSIGN(made[i], compiler->compile());
    HET_TRY(check_same_ports(*plan.subgraphs[i], *made[i]));
  }
  return made;
}

CrossingRules HeteroCompiler::crossing_rules() const {
  CrossingRules rules;
  rules.is_half = [this](const std::string& name) {
    const auto member = std::ranges::find(members_, name, &MemberDevice::name);
    return stores_half(member_properties(*member, properties_, kOwnProperties));
  };
  rules.half_is_cheaper = [this](const std::string& from, const std::string& to,
                                 const TensorDesc& desc) -> std::optional<bool> {
    if (profiles_ == nullptr) return std::nullopt;  // imported
    const auto as_it_is = profiles_->find_transfer(from, to, Crossing::AsItIs);
    const auto as_half = profiles_->find_transfer(from, to, Crossing::AsFloat16);
    const auto bytes = dense_size_bytes(desc);
    if (!as_it_is || !as_half || !bytes) return std::nullopt;
    const auto size = static_cast<double>(*bytes);
    return as_half->seconds(size) < as_it_is->seconds(size);
  };
  return rules;
}

Result<std::unique_ptr<FailOver>> HeteroCompiler::make_fail_over(
    std::shared_ptr<const PlanMix> plan, LostDevices lost) {
  FailOver::Parts parts;
  parts.plan = std::move(plan);
  parts.lost = std::move(lost);
  parts.replan = [self = shared_from_this()](LostDevices& devices) {
    return devices.empty() ? self->first_plan_again() : self->make_plan_without(devices);
  };
  parts.probe = [self = shared_from_this()](const std::shared_ptr<const PlanMix>& tried) {
    const auto model = self->wrap(tried);
    if (!model) return Status(model.error());
    const auto request = zero_request(**model);
    return request ? (*request)->infer() : Status(request.error());
  };
  parts.substitute = [self = shared_from_this()](const HeteroPlan& failed,
                                                 const std::vector<size_t>& subgraphs,
                                                 const LostDevices& devices) {
    return self->compile_elsewhere(failed, subgraphs, devices);
  };
  parts.judge = [self = shared_from_this()](const std::shared_ptr<const PlanMix>& judged) {
    return self->judge(*judged);
  };
  parts.judge_every = replan_interval(properties_);
  parts.events = events_;
  parts.retry = std::chrono::milliseconds(property_integer(properties_, "HETERO_RETRY_INTERVAL"));
  return FailOver::create(std::move(parts));
}

Result<std::shared_ptr<CompiledModel>> HeteroCompiler::wrap(std::shared_ptr<const PlanMix> plan,
                                                            std::unique_ptr<FailOver> fail_over) {
  HeteroParts parts;
  parts.name = prepared_->name();
  parts.inputs = input_ports(*prepared_);
  parts.outputs = output_ports(*prepared_);
  parts.device = device_;
  parts.properties = properties_;
  parts.plan = std::move(plan);
  if (fail_over != nullptr) parts.source = [self = shared_from_this()] { return self->source(); };
  parts.fail_over = std::move(fail_over);
  parts.events = events_;
  return std::make_shared<HeteroCompiledModel>(std::move(parts));
}

Status HeteroCompiler::dump(const Placement& placement, const SupportTable& table) const {
  HET_ASSIGN(std::vector<std::string> paths,
             dump_affinity(*prepared_, rows_of(*prepared_, *prepared_, placement, table)));
  if (!placement.split.subgraphs.empty()) {
    HET_ASSIGN(const std::vector<std::string> more, dump_subgraphs(*prepared_, placement.split));
    paths.insert(paths.end(), more.begin(), more.end());
  }
  for (const std::string& path : paths) log(LogLevel::Info, "wrote {}", path);
  return {};
}

}  // namespace het::hetero
