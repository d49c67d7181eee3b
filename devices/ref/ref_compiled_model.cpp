#include "devices/ref/ref_compiled_model.h"

#include <unordered_map>
#include <unordered_set>

#include "devices/ref/ref_request.h"
#include "inference/devices/ports.h"

namespace het::ref {
namespace {

/// Gives every value a slot and finds out after which step its tensor can be freed.
Plan make_plan(const Model& original, const Model& model) {
  Plan plan;
  std::unordered_map<const Value*, Slot> slots;
  for (const auto& value : model.values()) {
    slots[value.get()] = plan.constants.size();
    plan.constants.push_back(value->is_constant() ? value->constant() : Tensor());
  }
  std::unordered_set<Slot> kept;
  for (const ModelInput& input : model.inputs()) plan.inputs.push_back(slots.at(input.value));
  for (const ModelOutput& output : model.outputs()) {
    plan.outputs.push_back(slots.at(output.value));
    kept.insert(plan.outputs.back());
  }
  for (const auto& node : model.nodes()) {
    Step step;
    step.node = node.get();
    for (const Value* input : node->inputs()) {
      step.inputs.push_back(input ? slots.at(input) : kOmitted);
    }
    for (const Value* output : node->outputs()) step.outputs.push_back(slots.at(output));
    plan.steps.push_back(std::move(step));
  }
  // Backwards, the first mention of a slot is its last use.
  std::unordered_set<Slot> used_later = kept;
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    for (const std::vector<Slot>* list : {&step->inputs, &step->outputs}) {
      for (const Slot slot : *list) {
        if (slot == kOmitted || !plan.constants[slot].empty()) continue;
        if (used_later.insert(slot).second) step->last_uses.push_back(slot);
      }
    }
  }
  // One profile row per node of the file; those that no step stands for were optimised out.
  std::unordered_map<std::string_view, size_t> rows;
  for (const auto& node : original.nodes()) {
    rows[node->name()] = plan.rows.size();
    plan.rows.push_back({.node_name = node->name(),
                         .status = ProfileStatus::OptimizedOut,
                         .layer_type = node->qualified_type()});
  }
  for (Step& step : plan.steps) {
    const auto row = rows.find(step.node->name());
    step.profile_row = row != rows.end() ? row->second : plan.rows.size();
    if (row == rows.end()) {
      plan.rows.emplace_back();
      plan.rows.back().node_name = step.node->name();
    }
    ProfileRow& shown = plan.rows[step.profile_row];
    shown.status = ProfileStatus::NotRun;
    shown.layer_type = step.node->qualified_type();
    shown.exec_type = "ref";
    shown.layout = "plain";
    if (const Value* output = step.node->output())
      shown.type = std::string(to_string(output->desc().type));
  }
  return plan;
}

}  // namespace

RefCompiledModel::RefCompiledModel(const Model& original, std::unique_ptr<Model> prepared,
                                   Properties properties, std::unique_ptr<StreamExecutor> streams)
    : CompiledModel(original.name(), input_ports(*prepared), output_ports(*prepared)),
      model_(std::move(prepared)),
      plan_(make_plan(original, *model_)),
      properties_(std::move(properties)),
      profiled_(property_boolean(properties_, "PERF_COUNT")),
      streams_(std::move(streams)) {}

Result<std::string> RefCompiledModel::get_property(std::string_view name) const {
  HET_ASSIGN(const PropertyDef* def, find_property(name, "REF"));
  if (def->name == "EXECUTION_DEVICES") return "REF";
  if (def->name == "INFERENCE_PRECISION_HINT") return "f32";
  if (def->name == "NETWORK_NAME") return this->name();
  if (def->name == "NUM_STREAMS" || def->name == "OPTIMAL_NUMBER_OF_INFER_REQUESTS") {
    return std::to_string(streams_->stream_count());
  }
  if (def->name == "SUPPORTED_PROPERTIES") return supported_properties("REF");
  return property_text(properties_, def->name);
}

Result<std::unique_ptr<DeviceRequest>> RefCompiledModel::create_device_request() {
  return std::make_unique<RefRequest>(*this);
}

}  // namespace het::ref
