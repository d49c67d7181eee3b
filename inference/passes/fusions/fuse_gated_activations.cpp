#include <cmath>

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/unary.h"

namespace het {
namespace {

/// x when `value` is clip(x + 3, 0, 6) that nobody else reads.
Value* clipped_shift(const Model& model, const Value& value) {
  if (only_reader(model, value) == nullptr) return nullptr;
  const auto clip = unary_of(value.producer());
  if (!clip || clip->expression.kind != ElementwiseKind::Clip || clip->expression.alpha != 0.0f ||
      clip->expression.beta != 6.0f || only_reader(model, *clip->operand) == nullptr) {
    return nullptr;
  }
  const auto shift = unary_of(clip->operand->producer());
  return is_linear(shift, 1.0f, 3.0f) ? shift->operand : nullptr;
}

/// True when `gate` is 1 + erf(x / sqrt(2)) that nobody else reads, x given.
bool is_erf_gate(const Model& model, const Value& gate, const Value& x) {
  const auto shift = unary_of(gate.producer());
  if (!is_linear(shift, 1.0f, 1.0f) || only_reader(model, gate) == nullptr) return false;
  const auto erf = unary_of(shift->operand->producer());
  return erf && erf->expression.kind == ElementwiseKind::Erf &&
         only_reader(model, *shift->operand) != nullptr &&
         scaled_by(model, erf->operand->producer(), std::sqrt(0.5f)) == &x;
}

struct Gate {
  std::string op_type;
  Node* last = nullptr;      ///< the node whose output is the activation
  Value* operand = nullptr;  ///< what the activation is of
  std::string domain = "het";
};

/// x * 0.5 * (1 + erf(x / sqrt(2))) that `mul` ends or almost ends, the factor at any place.
std::optional<Gate> gelu_of(const Model& model, Node& mul, Value& x, Value& gate) {
  if (is_erf_gate(model, gate, x)) {
    Node* after = only_reader(model, *mul.output());
    if (after == nullptr || !is_linear(unary_of(after), 0.5f, 0.0f)) return std::nullopt;
    return Gate{"Gelu", after, &x, ""};
  }
  const Value* whole = scaled_by(model, gate.producer(), 0.5f);
  if (whole != nullptr && is_erf_gate(model, *whole, x)) return Gate{"Gelu", &mul, &x, ""};
  Value* twice = scaled_by(model, x.producer(), 0.5f);
  if (twice != nullptr && is_erf_gate(model, gate, *twice)) return Gate{"Gelu", &mul, twice, ""};
  return std::nullopt;
}

/// The activation that `mul` ends, when its operands are x and a gate of x.
std::optional<Gate> gate_of(const Model& model, Node& mul, Value& x, Value& gate) {
  if (auto gelu = gelu_of(model, mul, x, gate)) return gelu;
  if (const auto unary = unary_of(gate.producer());
      unary && unary->operand == &x && only_reader(model, gate) != nullptr) {
    if (unary->expression.kind == ElementwiseKind::Sigmoid) return Gate{"Swish", &mul, &x};
    if (unary->expression.kind == ElementwiseKind::HardSigmoid &&
        near(unary->expression.alpha, 1.0f / 6.0f) && unary->expression.beta == 0.5f) {
      return Gate{"HardSwish", &mul, &x};
    }
  }
  // x * (clip(x + 3, 0, 6) / 6)
  const Value* clipped = scaled_by(model, gate.producer(), 1.0f / 6.0f);
  if (clipped != nullptr && clipped_shift(model, *clipped) == &x)
    return Gate{"HardSwish", &mul, &x};
  // (x * clip(x + 3, 0, 6)) / 6
  if (clipped_shift(model, gate) == &x) {
    Node* after = only_reader(model, *mul.output());
    if (after == nullptr) return std::nullopt;
    const auto divisor = divisor_of(*after);
    const auto unary = unary_of(after);
    const bool by_six =
        (divisor && near(1.0f / *divisor, 1.0f / 6.0f) && after->input(0) == mul.output()) ||
        is_linear(unary, 1.0f / 6.0f, 0.0f);
    if (by_six) return Gate{"HardSwish", after, &x};
  }
  return std::nullopt;
}

/// Everything between x and the activation's end.
void collect_names(const Value& value, const Value& x, Node& made) {
  if (&value == &x || value.producer() == nullptr) return;
  made.add_original_names(value.producer()->original_names());
  for (const Value* input : value.producer()->inputs()) {
    if (input != nullptr && !input->is_constant()) collect_names(*input, x, made);
  }
}

void detach_between(Model& model, Value& value, const Value& x) {
  Node* node = value.producer();
  if (&value == &x || node == nullptr || is_detached(*node)) return;
  const std::vector<Value*> inputs = node->inputs();
  detach(model, *node);
  for (Value* input : inputs) {
    if (input != nullptr && !input->is_constant()) detach_between(model, *input, x);
  }
}

}  // namespace

Status fuse_gated_activations(Model& model) {
  for (size_t k = 0; k < model.nodes().size(); ++k) {
    Node& mul = *model.nodes()[k];
    if (mul.op_type() != "Mul" || !mul.domain().empty() || is_detached(mul) ||
        !elementwise_of(mul)) {
      continue;
    }
    for (const size_t side : {size_t{0}, size_t{1}}) {
      Value& x = *mul.input(side);
      Value& gate = *mul.input(1 - side);
      if (x.is_constant() || gate.is_constant() || x.desc().shape != gate.desc().shape) continue;
      const std::optional<Gate> found = gate_of(model, mul, x, gate);
      if (!found) continue;
      Value& operand = *found->operand;
      Node* made =
          replace(model, {&mul, found->last, found->op_type, found->domain, {&operand}, {}});
      for (Value* side_of_mul : {&x, &gate}) {
        collect_names(*side_of_mul, operand, *made);
        detach_between(model, *side_of_mul, operand);
      }
      break;
    }
  }
  return {};
}

}  // namespace het
