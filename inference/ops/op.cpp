#include "inference/ops/op.h"

#include <memory>
#include <utility>

#include "inference/ops/register_ops.h"

namespace het {

InferContext::InferContext(const Node& node, std::vector<const TensorDesc*> inputs,
                           std::vector<const Tensor*> constants, bool evaluates)
    : node_(node),
      inputs_(std::move(inputs)),
      constants_(std::move(constants)),
      outputs_(node.outputs().size()),
      is_set_(node.outputs().size()),
      evaluates_(evaluates) {}

void InferContext::set_output(size_t index, ElementType type, Shape shape) {
  if (index >= outputs_.size()) return;
  outputs_[index] = {type, std::move(shape), Layout::Plain};
  is_set_[index] = type != ElementType::Undefined;
}

void InferContext::leave_open(size_t index) {
  if (index >= outputs_.size()) return;
  outputs_[index] = {};
  is_set_[index] = true;
}

EvaluateContext::EvaluateContext(const Node& node, std::vector<const Tensor*> inputs,
                                 std::vector<Tensor> outputs, const std::atomic<bool>* cancelled)
    : node_(node),
      inputs_(std::move(inputs)),
      outputs_(std::move(outputs)),
      cancelled_(cancelled) {}

namespace {

/// Bytes that one output may have: a model from anywhere can ask for any shape (Expand, Tile,
/// Range, Pad, Resize ...).
constexpr size_t kMaxOutputBytes = size_t{4} << 30;

Status check_output_size(size_t index, const TensorDesc& desc) {
  HET_ASSIGN(const size_t bytes, dense_size_bytes(desc));
  if (bytes <= kMaxOutputBytes) return {};
  return error(StatusCode::OutOfMemory,
               "output {} would be {}, {} bytes; one output may have {}: check the shapes and "
               "repetitions that the model asks for",
               index, to_string(desc), bytes, kMaxOutputBytes);
}

}  // namespace

Status EvaluateContext::allocate_output(size_t index, ElementType type, Shape shape) {
  if (index >= outputs_.size()) return {};
  TensorDesc desc{type, std::move(shape), Layout::Plain};
  HET_TRY(check_output_size(index, desc));
  HET_ASSIGN(outputs_[index], Tensor::allocate(std::move(desc)));
  return {};
}

void OpRegistry::add(const OpDef& def) {
  defs_.push_back(std::make_unique<OpDef>(def));
}

const OpDef* OpRegistry::find(std::string_view domain, std::string_view type) const {
  if (domain == "ai.onnx") domain = "";
  for (const auto& def : defs_) {
    if (def->type == type && def->domain == domain) return def.get();
  }
  return nullptr;
}

std::vector<const OpDef*> OpRegistry::all() const {
  std::vector<const OpDef*> result;
  for (const auto& def : defs_) result.push_back(def.get());
  return result;
}

const OpRegistry& op_registry() {
  // Never destroyed: models may outlive the end of main().
  static const OpRegistry* const registry = [] {
    auto* made = new OpRegistry;
    register_ops(*made);
    return made;
  }();
  return *registry;
}

namespace {

std::string describe(const Node& node) {
  return fmt::format("node '{}' ({})", node.name(), node.qualified_type());
}

Result<std::vector<TensorDesc>> infer(const Node& node, std::vector<const TensorDesc*> inputs,
                                      std::vector<const Tensor*> constants, bool evaluates) {
  const OpDef* op = node.op();
  if (op == nullptr) {
    return error(StatusCode::NotSupported, "{}: {}", describe(node), node.unsupported_reason());
  }
  size_t given = inputs.size();
  while (given > 0 && inputs[given - 1] == nullptr) --given;
  if (given < op->min_inputs || (op->max_inputs != kVariadic && given > op->max_inputs)) {
    return error(
        StatusCode::ParseError, "{} has {} inputs, but takes {} to {}", describe(node), given,
        op->min_inputs,
        op->max_inputs == kVariadic ? std::string("any number") : std::to_string(op->max_inputs));
  }
  for (size_t i = 0; i < op->min_inputs; ++i) {
    // Operators read the first min_inputs inputs without asking; later ones may be omitted.
    if (inputs[i] == nullptr) {
      return error(StatusCode::ParseError, "{}: input {} is missing", describe(node), i);
    }
  }
  if (node.outputs().empty()) {
    return error(StatusCode::ParseError, "{} has no outputs", describe(node));
  }
  InferContext context(node, std::move(inputs), std::move(constants), evaluates);
  if (Status status = op->infer(context); !status.ok()) {
    return Failure(status.with_context(describe(node)));
  }
  for (size_t i = 0; i < context.outputs().size(); ++i) {
    if (!context.is_set(i)) {
      return error(StatusCode::ParseError, "{} has {} outputs, but the operator gives only {}",
                   describe(node), context.outputs().size(), i);
    }
    if (!context.outputs()[i].is_static()) continue;
    if (const Status status = check_output_size(i, context.outputs()[i]); !status.ok()) {
      return Failure(status.with_context(describe(node)));
    }
  }
  return context.outputs();
}

}  // namespace

Result<std::vector<TensorDesc>> infer_node(const Node& node, std::vector<const TensorDesc*> inputs,
                                           std::vector<const Tensor*> constants) {
  return infer(node, std::move(inputs), std::move(constants), false);
}

Result<std::vector<Tensor>> evaluate_node(const Node& node,
                                          const std::vector<const Tensor*>& inputs,
                                          std::vector<Tensor> preallocated,
                                          const std::atomic<bool>* cancelled) {
  std::vector<const TensorDesc*> descs;
  descs.reserve(inputs.size());
  for (const Tensor* input : inputs) descs.push_back(input ? &input->desc() : nullptr);
  HET_ASSIGN(const std::vector<TensorDesc> outputs, infer(node, std::move(descs), inputs, true));
  preallocated.resize(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].is_static()) {
      preallocated[i] = {};
      continue;
    }
    Tensor& tensor = preallocated[i];
    if (!tensor.empty() && tensor.type() == outputs[i].type && tensor.shape() == outputs[i].shape) {
      continue;
    }
    HET_ASSIGN(tensor, Tensor::allocate(outputs[i]));
  }
  EvaluateContext context(node, inputs, std::move(preallocated), cancelled);
  if (Status status = node.op()->evaluate(context); !status.ok()) {
    return Failure(status.with_context(describe(node)));
  }
  return std::move(context.outputs());
}

}  // namespace het
