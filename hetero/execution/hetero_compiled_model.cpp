#include "hetero/execution/hetero_compiled_model.h"

#include <algorithm>
#include <list>
#include <map>
#include <span>
#include <sstream>
#include <utility>

#include "hetero/execution/exported_plan.h"
#include "hetero/execution/hetero_request.h"
#include "hetero/members/optimal_requests.h"
#include "inference/device_registry.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

Result<std::string> export_subgraph(const Subgraph& subgraph, const CompiledModel& model) {
  const std::string what = fmt::format("cannot export {} on {}", subgraph.name, subgraph.device);
  for (const Port& input : model.inputs()) {
    if (input.desc.is_static()) continue;
    return error(StatusCode::NotSupported,
                 "{}: it reads '{}', which is sized at run time, and is compiled for the sizes "
                 "that come",
                 what, input.name);
  }
  std::ostringstream stream;
  if (Status status = model.export_model(stream); !status.ok()) {
    return Failure(status.with_context(what));
  }
  return std::move(stream).str();
}

}  // namespace

HeteroCompiledModel::HeteroCompiledModel(HeteroParts parts)
    : CompiledModel(parts.name, parts.inputs, parts.outputs), parts_(std::move(parts)) {}

std::shared_ptr<const PlanMix> HeteroCompiledModel::plan() const {
  return parts_.fail_over != nullptr ? parts_.fail_over->plan() : parts_.plan;
}

Result<std::string> HeteroCompiledModel::get_property(std::string_view name) const {
  if (const auto member = split_member_property(name)) return member_property(*member);
  HET_ASSIGN(const PropertyDef* def, find_property(name, parts_.device));
  const std::shared_ptr<const PlanMix> plan = this->plan();
  if (def->name == "HETERO_NUMBER_OF_SUBMODELS") {
    size_t sum = 0;
    for (const PlanWay& way : plan->ways()) sum += way.plan->subgraphs.size();
    return std::to_string(sum);
  }
  if (def->name == "HETERO_PLAN") return plan->explanation();
  if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(parts_.device).arguments;
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(parts_.device);
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "EXECUTION_DEVICES") {
    std::vector<std::string_view> used;
    std::string text;
    for (const PlanWay& way : plan->ways()) {
      for (const Subgraph& subgraph : way.plan->split.subgraphs) {
        if (std::ranges::find(used, subgraph.device) != used.end()) continue;
        used.push_back(subgraph.device);
        text += (text.empty() ? "" : " ") + subgraph.device;
      }
    }
    return text;
  }
  if (def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
    // One request a device is on its way while the next one comes: what keeps all of them busy.
    std::map<std::string_view, size_t> wanted;
    for (const PlanWay& way : plan->ways()) {
      for (size_t i = 0; i < way.plan->subgraphs.size(); ++i) {
        size_t& count = wanted[way.plan->split.subgraphs[i].device];
        count = std::max(count, optimal_requests(*way.plan->subgraphs[i]));
      }
    }
    size_t sum = 0;
    for (const auto& [device, count] : wanted) sum += count;
    return std::to_string(std::max({sum, plan->requests(), size_t{1}}));
  }
  // Of the first device that has it, which is that of the first subgraph where several do.
  for (const PlanWay& way : plan->ways()) {
    for (const auto& model : way.plan->subgraphs) {
      if (auto value = model->get_property(def->name)) return value;
    }
  }
  return property_text(parts_.properties, def->name);
}

std::vector<SubgraphInfo> HeteroCompiledModel::subgraphs() const {
  const std::shared_ptr<const PlanMix> mix = plan();
  const HeteroPlan& plan = *std::ranges::max_element(mix->ways(), {}, &PlanWay::share)->plan;
  const auto names_of = [](const std::vector<Port>& ports) {
    std::vector<std::string> names;
    for (const Port& port : ports) names.push_back(port.name);
    return names;
  };
  std::vector<SubgraphInfo> rows;
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const Subgraph& subgraph = plan.split.subgraphs[i];
    rows.push_back({subgraph.name, subgraph.device, plan.node_names[i],
                    names_of(plan.subgraphs[i]->inputs()), names_of(plan.subgraphs[i]->outputs()),
                    subgraph.dependencies});
  }
  return rows;
}

Result<std::string> HeteroCompiledModel::member_property(const MemberProperty& property) const {
  const std::shared_ptr<const PlanMix> plan = this->plan();
  for (const PlanWay& way : plan->ways()) {
    for (size_t i = 0; i < way.plan->subgraphs.size(); ++i) {
      const std::string& device = way.plan->split.subgraphs[i].device;
      if (device != property.device && parse_device_name(device).kind != property.device) continue;
      return way.plan->subgraphs[i]->get_property(property.name);
    }
  }
  return error(StatusCode::NotFound, "no subgraph of model '{}' runs on '{}'", this->name(),
               property.device);
}

Status HeteroCompiledModel::export_model(std::ostream& stream) const {
  ExportedPlan exported;
  exported.model = this->name();
  exported.devices = parse_device_name(parts_.device).arguments;
  exported.explanation = parts_.plan->explanation();
  exported.properties = parts_.properties;
  if (parts_.source) {
    HET_ASSIGN(exported.source, parts_.source());
  }
  exported.inputs = parts_.inputs;
  exported.outputs = parts_.outputs;
  exported.requests = parts_.plan->requests();
  std::list<std::string> contents;
  for (const PlanWay& way : parts_.plan->ways()) {
    ExportedWay& copy = exported.ways.emplace_back();
    copy.share = way.share;
    copy.turns = way.plan->turns;
    copy.split.outputs = way.plan->split.outputs;
    for (size_t i = 0; i < way.plan->subgraphs.size(); ++i) {
      const Subgraph& subgraph = way.plan->split.subgraphs[i];
      const CompiledModel& model = *way.plan->subgraphs[i];
      HET_ASSIGN(std::string content, export_subgraph(subgraph, model));
      contents.push_back(std::move(content));
      copy.split.subgraphs.push_back(
          {subgraph.name, subgraph.device, {}, nullptr, subgraph.inputs, subgraph.dependencies});
      copy.subgraphs.push_back({way.plan->node_names[i], model.inputs(), model.outputs(),
                                std::as_bytes(std::span(contents.back()))});
    }
  }
  return write_exported_plan(stream, exported);
}

Result<Tensor> HeteroCompiledModel::allocate_tensor(const TensorDesc& desc) {
  // Requests give ports of subgraphs their tensors; this is for what belongs to none.
  return Tensor::allocate(desc);
}

Result<std::unique_ptr<DeviceRequest>> HeteroCompiledModel::create_device_request() {
  return HeteroRequest::create(*this);
}

}  // namespace het::hetero
