#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/graph.h"
#include "inference/readers/openvino_ir/translate.h"

/// Bodies of control flow: inputs and outputs in the order that their node wants.
namespace het::ir {

Result<size_t> GraphBuilder::planned_layer(int64_t id, std::string_view type) const {
  const auto found = layers_.find(id);
  if (found != layers_.end() && net_.layers[found->second].type == type &&
      net_.layers[found->second].outputs.size() == (type == "Parameter" ? 1 : 0)) {
    return found->second;
  }
  return error(StatusCode::ParseError, "its body has no {} with id {}, which its port map names",
               type, id);
}

Value* GraphBuilder::add_part(const ParsedLayer& layer, Value* whole, const BodyPlan::Part& part) {
  LayerContext context(graph_, layer, {}, {}, {});
  Value* const iteration = model_->inputs()[0].value;
  // The slices from the end on are -1, -2 ...
  Value* index = context.add("Reshape", {iteration, context.integers_constant("one", {1})});
  if (part.backwards) {
    index = context.add("Sub", {context.integers_constant("last", {-1}), index});
  }
  return context.add("Gather", {whole, index}, with("axis", part.axis));
}

Status GraphBuilder::add_planned_inputs() {
  if (plan_->is_loop) {
    model_->add_input("het.iteration", {ElementType::Int64, {}});
    model_->add_input("het.condition", {ElementType::Bool, {}});
  }
  std::map<int64_t, Value*> known;
  for (const int64_t id : plan_->carried) {
    HET_ASSIGN(const size_t index, planned_layer(id, "Parameter"));
    HET_TRY(add_parameter(index));
    known[id] = values_.at({index, net_.layers[index].outputs[0].id});
  }
  for (const auto& [id, name] : plan_->captured) {
    HET_ASSIGN(const size_t index, planned_layer(id, "Parameter"));
    HET_ASSIGN(TensorDesc desc, parameter_desc(net_.layers[index]));
    const auto part = plan_->parts.find(id);
    if (part != plan_->parts.end()) {
      const auto axis = static_cast<size_t>(part->second.axis);
      if (part->second.axis < 0 || axis >= desc.shape.size()) {
        return error(StatusCode::ParseError, "{} is sliced along axis {}, but has rank {}",
                     describe(net_.layers[index]), part->second.axis, desc.shape.size());
      }
      desc.shape[axis] = kUnknownDim;
    }
    Value* whole = model_->find_value(name);
    if (whole == nullptr) whole = model_->add_input(name, std::move(desc));
    known[id] =
        part == plan_->parts.end() ? whole : add_part(net_.layers[index], whole, part->second);
  }
  if (plan_->iteration) {
    HET_ASSIGN(const size_t index, planned_layer(*plan_->iteration, "Parameter"));
    HET_ASSIGN(const TensorDesc desc, parameter_desc(net_.layers[index]));
    LayerContext context(graph_, net_.layers[index], {}, {}, {});
    Value* const number = context.cast(model_->inputs()[0].value, desc.type);
    const std::vector<int64_t> shape(desc.shape.size(), 1);
    known[*plan_->iteration] =
        context.add("Reshape", {number, context.integers_constant("shape", shape)});
  }
  for (size_t i = 0; i < net_.layers.size(); ++i) {
    const ParsedLayer& layer = net_.layers[i];
    if (layer.type != "Parameter") continue;
    const auto value = known.find(layer.id);
    if (value == known.end()) {
      return error(StatusCode::ParseError, "{} of its body is fed by no port of its port map",
                   describe(layer));
    }
    values_[{i, layer.outputs[0].id}] = value->second;
  }
  return {};
}

Status GraphBuilder::add_planned_results() {
  const auto add = [&](int64_t id) -> Status {
    HET_ASSIGN(const size_t index, planned_layer(id, "Result"));
    std::string name;
    HET_ASSIGN(Value* const value, result_value(index, &name));
    model_->add_output(fmt::format("{}#{}", name, model_->outputs().size()), value);
    return {};
  };
  if (plan_->is_loop && plan_->condition) {
    HET_TRY(add(*plan_->condition));
  } else if (plan_->is_loop) {
    Value* const always = model_->add_constant("het.always", Tensor::scalar<bool>(true));
    model_->add_output("het.always", always);
  }
  for (const int64_t id : plan_->results) HET_TRY(add(id));
  return {};
}

}  // namespace het::ir
