#include "devices/cpu/runnable_plan.h"

#include <fmt/core.h>

#include <string_view>
#include <unordered_map>

namespace het::cpu {
namespace {

ProfileRow profile_row(const Plan& plan, const Step& step) {
  ProfileRow row{.node_name = step.node_name,
                 .status = ProfileStatus::NotRun,
                 .layer_type = step.layer_type,
                 .exec_type = std::string(step.kernel->implementation())};
  for (const std::vector<TensorId>* operands : {&step.inputs, &step.outputs}) {
    for (const TensorId id : *operands) {
      if (id == kNoTensor) continue;
      const PlanTensor& tensor = plan.tensors[static_cast<size_t>(id)];
      if (tensor.storage == Storage::Dynamic) continue;
      row.bytes += static_cast<int64_t>(size_bytes(tensor.spec));
    }
  }
  if (!step.outputs.empty() && step.outputs[0] != kNoTensor) {
    const PlanTensor& output = plan.tensors[static_cast<size_t>(step.outputs[0])];
    if (output.storage != Storage::Dynamic) {
      row.type = std::string(to_string(output.spec.type));
      row.layout = std::string(to_string(output.spec.format));
    }
  }
  return row;
}

}  // namespace

RunnablePlan::RunnablePlan(Plan plan, const Model& original)
    : name_(original.name()), plan_(std::move(plan)) {
  std::unordered_map<std::string, size_t> rows;
  rows_.push_back({.node_name = "preprocess",
                   .status = ProfileStatus::NotRun,
                   .layer_type = "Preprocess",
                   .exec_type = "preprocess"});
  std::unordered_map<std::string_view, std::string_view> fused_into;
  for (const Step& step : plan_.steps) {
    for (const std::string& name : step.fused_names) fused_into.emplace(name, step.node_name);
    const auto [row, fresh] = rows.emplace(step.node_name, rows_.size());
    if (fresh) rows_.push_back(profile_row(plan_, step));
    step_rows_.push_back(row->second);
    step_names_.emplace_back(name_.c_str(), step.node_name.c_str());
  }
  for (const auto& node : original.nodes()) {
    if (rows.count(node->name()) > 0) continue;
    const auto step = fused_into.find(node->name());
    rows_.push_back({.node_name = node->name(),
                     .status = ProfileStatus::OptimizedOut,
                     .layer_type = node->qualified_type(),
                     .exec_type = step == fused_into.end()
                                      ? std::string("undef")
                                      : fmt::format("fused:{}", step->second)});
  }
}

Status RunnablePlan::prepare(size_t streams) {
  const std::lock_guard lock(executions_mutex_);
  while (executions_.size() < streams) {
    HET_ASSIGN(auto execution, PlanExecution::create(plan_));
    executions_.push_back(std::move(execution));
  }
  return {};
}

}  // namespace het::cpu
