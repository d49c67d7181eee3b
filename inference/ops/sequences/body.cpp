#include "inference/ops/sequences/body.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "inference/ops/strided_copy.h"
#include "inference/passes/infer_shapes.h"
#include "inference/passes/remove_identities.h"

namespace het {
namespace {

/// Names of the outer values that the bodies of a node read, with their places.
std::unordered_map<std::string, size_t> captures_of(const Node& node) {
  std::unordered_map<std::string, size_t> captures;
  size_t place = 0;
  for (std::string& name : node.attributes().get_strings(kCapturesAttribute)) {
    captures.emplace(std::move(name), place++);
  }
  return captures;
}

const Model* find_body(const Node& node, std::string_view name) {
  const Attribute* attribute = node.attributes().find(name);
  const auto* body = attribute ? std::get_if<std::shared_ptr<Model>>(attribute) : nullptr;
  return body != nullptr ? body->get() : nullptr;
}

/// Per body input: the input of the node that it captures, or nothing for formal ones.
std::vector<std::optional<size_t>> captured_inputs(const Node& node, const Model& body) {
  const auto captures = captures_of(node);
  const size_t first =
      node.inputs().size() - node.attributes().get_strings(kCapturesAttribute).size();
  std::vector<std::optional<size_t>> result;
  for (const ModelInput& input : body.inputs()) {
    const auto found = captures.find(input.value->name());
    result.push_back(found == captures.end() ? std::nullopt : std::optional(first + found->second));
  }
  return result;
}

}  // namespace

Result<size_t> formal_input_count(const Node& node) {
  const size_t captures = node.attributes().get_strings(kCapturesAttribute).size();
  if (captures > node.inputs().size()) {
    return error(StatusCode::ParseError, "it has {} inputs, but its bodies capture {} values",
                 node.inputs().size(), captures);
  }
  return node.inputs().size() - captures;
}

Status check_body(const Node& node, std::string_view name, size_t formal) {
  const Model* body = find_body(node, name);
  if (body == nullptr) {
    return error(StatusCode::ParseError, "the graph attribute '{}' is missing", name);
  }
  HET_TRY(formal_input_count(node));
  const auto captures = captures_of(node);
  size_t found = 0;
  while (found < body->inputs().size() && !captures.contains(body->inputs()[found].value->name())) {
    ++found;
  }
  if (found != formal) {
    return error(StatusCode::ParseError, "its body '{}' has {} inputs, but {} values go into it",
                 name, found, formal);
  }
  for (size_t i = found; i < body->inputs().size(); ++i) {
    const std::string& input = body->inputs()[i].value->name();
    if (captures.contains(input)) continue;
    return error(StatusCode::ParseError, "input '{}' of its body '{}' stands behind captures",
                 input, name);
  }
  return {};
}

const Model& body_of(const Node& node, std::string_view name) {
  return *find_body(node, name);
}

Result<std::unique_ptr<Model>> infer_body(const InferContext& context, std::string_view name,
                                          const std::vector<BodyInput>& formal) {
  const Node& node = context.node();
  const Model& body = body_of(node, name);
  std::unique_ptr<Model> copy = body.clone();
  const auto captured = captured_inputs(node, body);
  for (size_t i = 0; i < captured.size(); ++i) {
    Value* value = copy->inputs()[i].value;
    BodyInput given;
    if (!captured[i]) {
      given = formal[i];
    } else if (context.has_input(*captured[i])) {
      given.desc = context.input(*captured[i]);
      if (const Tensor* content = context.constant(*captured[i])) given.content = *content;
    }
    if (given.content.empty()) {
      copy->set_desc(value, given.desc);
    } else {
      copy->make_constant(value, given.content);
    }
  }
  remove_identities(*copy);
  copy->remove_unused();
  std::vector<NodeFailure> failures;
  HET_TRY(infer_shapes(*copy, &failures));
  for (const NodeFailure& failure : failures) {
    if (failure.status.code() != StatusCode::NotSupported) continue;
    return Failure(failure.status.with_context(fmt::format("body '{}'", name)));
  }
  return copy;
}

Result<BodyRunner> BodyRunner::create(const EvaluateContext& context, std::string_view name) {
  BodyRunner runner(context, body_of(context.node(), name));
  HET_TRY(runner.plan());
  return runner;
}

const TensorDesc& BodyRunner::declared_input(size_t index) const {
  return body_->inputs()[index].value->desc();
}

Status BodyRunner::plan() {
  std::unordered_map<const Value*, size_t> slots;
  for (const auto& value : body_->values()) {
    slots[value.get()] = slots_.size();
    slots_.push_back(value->is_constant() ? value->constant() : Tensor());
    lasting_.push_back(value->is_constant());
  }
  const auto captured = captured_inputs(context_->node(), *body_);
  for (size_t i = 0; i < captured.size(); ++i) {
    const size_t slot = slots.at(body_->inputs()[i].value);
    if (!captured[i]) {
      formal_.push_back(slot);
    } else if (context_->has_input(*captured[i])) {
      slots_[slot] = context_->input(*captured[i]);
      lasting_[slot] = true;
    }
  }
  for (const ModelOutput& output : body_->outputs()) outputs_.push_back(slots.at(output.value));

  std::vector<bool> needed(slots_.size());
  for (const size_t slot : outputs_) needed[slot] = true;
  for (auto node = body_->nodes().rbegin(); node != body_->nodes().rend(); ++node) {
    Step step;
    step.node = node->get();
    bool live = false;
    for (const Value* output : (*node)->outputs()) {
      step.outputs.push_back(slots.at(output));
      live = live || needed[step.outputs.back()];
    }
    if (!live) continue;
    for (const Value* input : (*node)->inputs()) {
      step.inputs.push_back(input ? slots.at(input) : kOmitted);
      if (input) needed[step.inputs.back()] = true;
    }
    steps_.push_back(std::move(step));
  }
  std::reverse(steps_.begin(), steps_.end());

  for (Step& step : steps_) {
    const auto lasts = [&](size_t slot) { return slot == kOmitted || lasting_[slot]; };
    step.fixed = std::all_of(step.inputs.begin(), step.inputs.end(), lasts);
    for (const size_t slot : step.outputs) lasting_[slot] = step.fixed;
  }
  plan_lifetimes(lasting_);
  return {};
}

void BodyRunner::plan_lifetimes(const std::vector<bool>& lasting) {
  std::vector<bool> used_later = lasting;
  for (const size_t slot : outputs_) used_later[slot] = true;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    for (const std::vector<size_t>* list : {&step->inputs, &step->outputs}) {
      for (const size_t slot : *list) {
        if (slot == kOmitted || used_later[slot]) continue;
        used_later[slot] = true;
        step->last_uses.push_back(slot);
      }
    }
  }
}

Status BodyRunner::run_step(const Step& step) {
  HET_TRY(check_cancelled(*context_));
  std::vector<const Tensor*> inputs;
  inputs.reserve(step.inputs.size());
  for (const size_t slot : step.inputs) {
    inputs.push_back(slot == kOmitted ? nullptr : &slots_[slot]);
    if (slot != kOmitted && slots_[slot].empty()) {
      return error(StatusCode::InvalidArgument,
                   "the body '{}' is not sorted: node '{}' reads what is computed behind it",
                   body_->name(), step.node->name());
    }
  }
  HET_ASSIGN(std::vector<Tensor> results,
             evaluate_node(*step.node, inputs, {}, context_->cancelled()));
  for (size_t i = 0; i < results.size(); ++i) slots_[step.outputs[i]] = std::move(results[i]);
  for (const size_t slot : step.last_uses) slots_[slot] = {};
  return {};
}

Result<std::vector<Tensor>> BodyRunner::run(const std::vector<Tensor>& formal) {
  for (size_t i = 0; i < formal_.size(); ++i) slots_[formal_[i]] = formal[i];
  for (const Step& step : steps_) {
    if (!step.fixed || !has_run_) HET_TRY(run_step(step));
  }
  has_run_ = true;
  std::vector<Tensor> results;
  for (const size_t slot : outputs_) results.push_back(slots_[slot]);
  for (size_t slot = 0; slot < slots_.size(); ++slot) {
    if (!lasting_[slot]) slots_[slot] = {};
  }
  return results;
}

InferContext inference_of(const EvaluateContext& context) {
  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  for (size_t i = 0; i < context.input_count(); ++i) {
    contents.push_back(context.has_input(i) ? &context.input(i) : nullptr);
    descs.push_back(contents.back() ? &contents.back()->desc() : nullptr);
  }
  return InferContext(context.node(), std::move(descs), std::move(contents));
}

Status deliver_output(EvaluateContext& context, size_t index, const Tensor& result) {
  if (!context.has_output(index)) return {};
  if (context.output(index).empty() || context.output(index).desc() != result.desc()) {
    HET_TRY(context.allocate_output(index, result.type(), result.shape()));
  }
  copy_elements(result, context.output(index));
  return {};
}

Status check_cancelled(const EvaluateContext& context) {
  if (context.cancelled() == nullptr || !context.cancelled()->load(std::memory_order_relaxed)) {
    return {};
  }
  return error(StatusCode::Cancelled, "the request was cancelled");
}

Result<bool> read_condition(const Tensor& tensor, std::string_view what) {
  if (tensor.type() != ElementType::Bool || tensor.element_count() != 1) {
    return error(StatusCode::ShapeMismatch, "{} is {}, one element of type bool is expected", what,
                 to_string(tensor.desc()));
  }
  return *tensor.data<bool>();
}

}  // namespace het
