#include <algorithm>
#include <array>

#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/unary.h"

namespace het {
namespace {

/// What the node takes the mean of when it does so along the last dimension, which stays as 1.
Value* row_of_mean(const Node* node) {
  if (!is_op(node, "ReduceMean") || node->attributes().get_int("keepdims", 1) == 0) return nullptr;
  const Value* axes = node->input(1);
  const auto rank = static_cast<int64_t>(node->input(0)->desc().shape.size());
  if (axes == nullptr || !axes->is_constant() || axes->constant().element_count() != 1) {
    return nullptr;
  }
  const auto values = to_int64_vector(axes->constant());
  const bool last = values && ((*values)[0] == -1 || (*values)[0] == rank - 1);
  return last ? node->input(0) : nullptr;
}

/// The value that the node squares.
Value* squared(const Node* node) {
  if (is_op(node, "Mul") && node->input(0) == node->input(1)) return node->input(0);
  if (!is_op(node, "Pow") || !node->input(1)->is_constant() ||
      node->input(1)->constant().element_count() != 1) {
    return nullptr;
  }
  const auto exponent = to_float_vector(node->input(1)->constant());
  return exponent && (*exponent)[0] == 2.0f ? node->input(0) : nullptr;
}

/// x of x - mean(x) along the last dimension.
Value* centred(const Value& difference) {
  const Node* sub = difference.producer();
  if (!is_op(sub, "Sub")) return nullptr;
  const Value* mean = sub->input(1);
  return row_of_mean(mean->producer()) == sub->input(0) ? sub->input(0) : nullptr;
}

/// The same value, or the same difference computed twice.
bool is_same(const Value& a, const Value& b) {
  if (&a == &b) return true;
  return centred(a) != nullptr && centred(a) == centred(b);
}

bool is_one(const Value& value) {
  if (!value.is_constant() || value.constant().element_count() != 1) return false;
  const auto numbers = to_float_vector(value.constant());
  return numbers && (*numbers)[0] == 1.0f;
}

/// The node that multiplies `x` by 1 / root.
Node* quotient_of(const Model& model, const Value& root, const Value& x) {
  Node* reader = only_reader(model, root);
  if (is_op(reader, "Div") && reader->input(1) == &root && is_same(*reader->input(0), x)) {
    return reader;
  }
  const bool reciprocal =
      is_op(reader, "Reciprocal") ||
      (is_op(reader, "Div") && reader->input(1) == &root && is_one(*reader->input(0)));
  if (!reciprocal) return nullptr;
  Node* mul = only_reader(model, *reader->output());
  if (!is_op(mul, "Mul")) return nullptr;
  const Value& other = *mul->input(mul->input(0) == reader->output() ? 1 : 0);
  return is_same(other, x) ? mul : nullptr;
}

/// The constant of `length` numbers with which the node combines `value`.
Value* row_operand(const Node* node, std::string_view type, const Value& value) {
  if (!is_op(node, type)) return nullptr;
  Value* other = node->input(node->input(0) == &value ? 1 : 0);
  const int64_t length = value.desc().shape.back();
  if (!other->is_constant() || other->desc().shape.empty() ||
      other->desc().shape.back() != length || other->constant().element_count() != length) {
    return nullptr;
  }
  return other;
}

struct Normalisation {
  Value* x = nullptr;
  bool centred = false;
  float epsilon = 0.0f;
  Node* quotient = nullptr;
};

std::optional<Normalisation> normalisation_of(const Model& model, const Node& sqrt) {
  if (!is_op(&sqrt, "Sqrt") || only_reader(model, *sqrt.output()) == nullptr) return std::nullopt;
  const auto shift = unary_of(sqrt.input(0)->producer());
  if (!shift || shift->expression.kind != ElementwiseKind::Linear ||
      shift->expression.alpha != 1.0f) {
    return std::nullopt;
  }
  const Value* squares = row_of_mean(shift->operand->producer());
  Value* root = squares == nullptr ? nullptr : squared(squares->producer());
  if (root == nullptr || root->desc().type != ElementType::Float32) return std::nullopt;
  Node* quotient = quotient_of(model, *sqrt.output(), *root);
  if (quotient == nullptr) return std::nullopt;
  Value* x = centred(*root);
  return Normalisation{x == nullptr ? root : x, x != nullptr, shift->expression.beta, quotient};
}

/// Adds the names of the nodes between x and `value`.
void add_names(const Value& value, const Value& x, Node& made) {
  const Node* node = value.producer();
  if (&value == &x || node == nullptr) return;
  made.add_original_names(node->original_names());
  for (const Value* input : node->inputs()) {
    if (input != nullptr && !input->is_constant()) add_names(*input, x, made);
  }
}

void fuse_normalisation(Model& model, const Normalisation& found) {
  Node* last = found.quotient;
  const Value* result = last->output();
  Value* scale = nullptr;
  Value* bias = nullptr;
  if (Node* mul = only_reader(model, *result)) scale = row_operand(mul, "Mul", *result);
  if (scale != nullptr) {
    last = only_reader(model, *result);
    result = last->output();
    if (Node* add = only_reader(model, *result); add != nullptr && found.centred) {
      bias = row_operand(add, "Add", *result);
      if (bias != nullptr) last = add;
    }
  } else {
    const int64_t length = found.x->desc().shape.back();
    scale = model.add_constant(
        found.quotient->name() + "/ones",
        Tensor::from<float>({length}, std::vector<float>(static_cast<size_t>(length), 1.0f)));
  }
  Attributes attributes;
  attributes.set("axis", int64_t{-1});
  attributes.set("epsilon", found.epsilon);
  std::vector<Value*> inputs{found.x, scale};
  if (bias != nullptr) inputs.push_back(bias);
  const std::vector<Value*> operands = found.quotient->inputs();
  Node* made = replace(
      model, {found.quotient, last, found.centred ? "LayerNormalization" : "RMSNormalization", "",
              std::move(inputs), std::move(attributes)});
  for (const Value* operand : operands) add_names(*operand, *found.x, *made);
}

}  // namespace

Status fuse_normalisations(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    const auto found = normalisation_of(model, *model.nodes()[k]);
    if (found) fuse_normalisation(model, *found);
  }
  return {};
}

}  // namespace het
