#include "inference/passes/fusions/elementwise_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

namespace het {
namespace {

struct KindName {
  ElementwiseKind kind;
  std::string_view name;
};

constexpr std::array kNames = {
    KindName{ElementwiseKind::Add, "Add"},
    KindName{ElementwiseKind::Sub, "Sub"},
    KindName{ElementwiseKind::Mul, "Mul"},
    KindName{ElementwiseKind::Div, "Div"},
    KindName{ElementwiseKind::Max, "Max"},
    KindName{ElementwiseKind::Min, "Min"},
    KindName{ElementwiseKind::Pow, "Pow"},
    KindName{ElementwiseKind::PRelu, "PRelu"},
    KindName{ElementwiseKind::Relu, "Relu"},
    KindName{ElementwiseKind::Clip, "Clip"},
    KindName{ElementwiseKind::Linear, "Linear"},
    KindName{ElementwiseKind::Sigmoid, "Sigmoid"},
    KindName{ElementwiseKind::Tanh, "Tanh"},
    KindName{ElementwiseKind::Swish, "Swish"},
    KindName{ElementwiseKind::HardSigmoid, "HardSigmoid"},
    KindName{ElementwiseKind::HardSwish, "HardSwish"},
    KindName{ElementwiseKind::Elu, "Elu"},
    KindName{ElementwiseKind::GeluErf, "GeluErf"},
    KindName{ElementwiseKind::GeluTanh, "GeluTanh"},
    KindName{ElementwiseKind::Exp, "Exp"},
    KindName{ElementwiseKind::Log, "Log"},
    KindName{ElementwiseKind::Sqrt, "Sqrt"},
    KindName{ElementwiseKind::Reciprocal, "Reciprocal"},
    KindName{ElementwiseKind::Abs, "Abs"},
    KindName{ElementwiseKind::Neg, "Neg"},
    KindName{ElementwiseKind::Square, "Square"},
    KindName{ElementwiseKind::Floor, "Floor"},
    KindName{ElementwiseKind::Ceil, "Ceil"},
    KindName{ElementwiseKind::Round, "Round"},
    KindName{ElementwiseKind::Erf, "Erf"},
    KindName{ElementwiseKind::SoftPlus, "SoftPlus"},
    KindName{ElementwiseKind::Mish, "Mish"},
    KindName{ElementwiseKind::ReplaceNaN, "ReplaceNaN"},
};

bool is_float32(const Value* value) {
  return value != nullptr && value->desc().type == ElementType::Float32;
}

/// The only element of a constant.
std::optional<float> scalar(const Value* value) {
  if (value == nullptr || !value->is_constant() || value->constant().element_count() != 1) {
    return std::nullopt;
  }
  const auto values = to_float_vector(value->constant());
  return values ? std::optional<float>((*values)[0]) : std::nullopt;
}

/// What every element of a constant is.
std::optional<float> uniform(const Value* value) {
  if (value == nullptr || !value->is_constant()) return std::nullopt;
  const auto values = to_float_vector(value->constant());
  if (!values || values->empty()) return std::nullopt;
  const bool equal = std::ranges::all_of(*values, [&](float v) { return v == values->front(); });
  return equal ? std::optional<float>(values->front()) : std::nullopt;
}

/// ONNX operators whose parameters are attributes.
std::optional<ElementwiseInstruction> unary_instruction(const Node& node) {
  const Attributes& a = node.attributes();
  const std::string& type = node.op_type();
  if (node.domain() == "het") {
    if (type == "Swish") return {{ElementwiseKind::Swish, 0, 0, a.get_float("alpha", 1.0f)}};
    if (type == "HardSwish") return {{ElementwiseKind::HardSwish}};
    return std::nullopt;
  }
  if (!node.domain().empty()) return std::nullopt;
  if (type == "Relu") return {{ElementwiseKind::Relu}};
  if (type == "LeakyRelu") {
    return {{ElementwiseKind::Relu, 0, 0, a.get_float("alpha", 0.01f)}};
  }
  if (type == "Sigmoid") return {{ElementwiseKind::Sigmoid}};
  if (type == "Tanh") return {{ElementwiseKind::Tanh}};
  if (type == "HardSigmoid") {
    return {{ElementwiseKind::HardSigmoid, 0, 0, a.get_float("alpha", 0.2f),
             a.get_float("beta", 0.5f)}};
  }
  if (type == "HardSwish") return {{ElementwiseKind::HardSwish}};
  if (type == "Swish") return {{ElementwiseKind::Swish, 0, 0, a.get_float("alpha", 1.0f)}};
  if (type == "Elu") return {{ElementwiseKind::Elu, 0, 0, a.get_float("alpha", 1.0f)}};
  if (type == "Gelu") {
    return {{a.get_string("approximate", "none") == "tanh" ? ElementwiseKind::GeluTanh
                                                           : ElementwiseKind::GeluErf}};
  }
  if (type == "Exp") return {{ElementwiseKind::Exp}};
  if (type == "Log") return {{ElementwiseKind::Log}};
  if (type == "Sqrt") return {{ElementwiseKind::Sqrt}};
  if (type == "Reciprocal") return {{ElementwiseKind::Reciprocal}};
  if (type == "Abs") return {{ElementwiseKind::Abs}};
  if (type == "Neg") return {{ElementwiseKind::Neg}};
  if (type == "Floor") return {{ElementwiseKind::Floor}};
  if (type == "Ceil") return {{ElementwiseKind::Ceil}};
  if (type == "Round") return {{ElementwiseKind::Round}};
  if (type == "Erf") return {{ElementwiseKind::Erf}};
  if (type == "Softplus") return {{ElementwiseKind::SoftPlus}};
  if (type == "Mish") return {{ElementwiseKind::Mish}};
  return std::nullopt;
}

std::optional<ElementwiseNode> clip_of(const Node& node) {
  // Older opsets are lifted to inputs by the reader; absent bounds are infinite.
  const auto bound = [&](size_t index, float fallback) -> std::optional<float> {
    if (node.input(index) == nullptr) return fallback;
    const auto value = scalar(node.input(index));
    // No comparison with NaN holds, so it bounds nothing.
    return value && std::isnan(*value) ? fallback : value;
  };
  const auto low = bound(1, -std::numeric_limits<float>::infinity());
  const auto high = bound(2, std::numeric_limits<float>::infinity());
  if (!low || !high) return std::nullopt;
  // Where the bounds cross, the upper one wins everywhere; kernels take no crossed bounds.
  const float lowest = std::min(*low, *high);
  return ElementwiseNode{{1, {{ElementwiseKind::Clip, 0, 0, lowest, *high}}}, {node.input(0)}};
}

/// A binary operator; scalar constants become parameters.
std::optional<ElementwiseNode> binary_of(const Node& node) {
  const std::string& type = node.op_type();
  if (!node.domain().empty()) return std::nullopt;
  const auto kind = elementwise_kind(type == "PRelu" ? "PRelu" : type);
  if (!kind || !is_binary(*kind)) return std::nullopt;
  const bool variadic = type == "Max" || type == "Min";
  if (variadic && node.inputs().size() != 2) return std::nullopt;
  Value* a = node.input(0);
  Value* b = node.input(1);
  if (!is_float32(a) || !is_float32(b)) return std::nullopt;
  if (*kind == ElementwiseKind::PRelu && a->desc().shape == node.output()->desc().shape) {
    if (const auto slope = uniform(b)) {
      return ElementwiseNode{{1, {{ElementwiseKind::Relu, 0, 0, *slope}}}, {a}};
    }
  }
  const std::optional<float> right = scalar(b);
  const bool same_shape = a->desc().shape == node.output()->desc().shape;
  const auto with = [&](Value* operand, ElementwiseInstruction instruction) {
    return ElementwiseNode{{1, {instruction}}, {operand}};
  };
  if (right && same_shape && !a->is_constant()) {
    if (*kind == ElementwiseKind::Add) return with(a, {ElementwiseKind::Linear, 0, 0, 1, *right});
    if (*kind == ElementwiseKind::Sub) return with(a, {ElementwiseKind::Linear, 0, 0, 1, -*right});
    if (*kind == ElementwiseKind::Mul) return with(a, {ElementwiseKind::Linear, 0, 0, *right, 0});
    if (*kind == ElementwiseKind::Pow && *right == 2.0f) return with(a, {ElementwiseKind::Square});
    if (*kind == ElementwiseKind::Pow && *right == 0.5f) return with(a, {ElementwiseKind::Sqrt});
    if (*kind == ElementwiseKind::Pow && *right == 1.0f) {
      return with(a, {ElementwiseKind::Linear, 0, 0, 1, 0});
    }
  }
  const std::optional<float> left = scalar(a);
  if (left && b->desc().shape == node.output()->desc().shape && !b->is_constant()) {
    if (*kind == ElementwiseKind::Add) return with(b, {ElementwiseKind::Linear, 0, 0, 1, *left});
    if (*kind == ElementwiseKind::Sub) return with(b, {ElementwiseKind::Linear, 0, 0, -1, *left});
    if (*kind == ElementwiseKind::Mul) return with(b, {ElementwiseKind::Linear, 0, 0, *left, 0});
  }
  if (a == b) return ElementwiseNode{{1, {{*kind, 0, 0}}}, {a}};
  return ElementwiseNode{{2, {{*kind, 0, 1}}}, {a, b}};
}

std::optional<ElementwiseNode> fused_of(const Node& node) {
  const auto program = elementwise_program(node.attributes(), node.inputs().size());
  if (!program) return std::nullopt;
  return ElementwiseNode{*program, node.inputs()};
}

}  // namespace

std::string_view to_string(ElementwiseKind kind) {
  for (const KindName& entry : kNames) {
    if (entry.kind == kind) return entry.name;
  }
  return "?";
}

std::optional<ElementwiseKind> elementwise_kind(std::string_view name) {
  for (const KindName& entry : kNames) {
    if (entry.name == name) return entry.kind;
  }
  return std::nullopt;
}

bool is_binary(ElementwiseKind kind) {
  return kind <= ElementwiseKind::PRelu;
}

std::optional<ElementwiseNode> elementwise_of(const Node& node) {
  if (node.inputs().empty() || node.outputs().size() != 1 || !is_float32(node.output())) {
    return std::nullopt;
  }
  for (const Value* input : node.inputs()) {
    if (input != nullptr && !input->desc().is_static()) return std::nullopt;
  }
  if (!node.output()->desc().is_static()) return std::nullopt;
  if (node.domain() == "het" && node.op_type() == "Elementwise") return fused_of(node);
  if (!is_float32(node.input(0))) return std::nullopt;
  if (const auto instruction = unary_instruction(node)) {
    return ElementwiseNode{{1, {*instruction}}, {node.input(0)}};
  }
  if (node.domain().empty() && node.op_type() == "Clip") return clip_of(node);
  return binary_of(node);
}

std::optional<ElementwiseProgram> elementwise_program(const Attributes& attributes,
                                                      size_t operands) {
  const std::vector<std::string> texts = attributes.get_strings("program");
  const std::vector<float> alphas = attributes.get_floats("alphas");
  const std::vector<float> betas = attributes.get_floats("betas");
  if (texts.empty() || alphas.size() != texts.size() || betas.size() != texts.size()) {
    return std::nullopt;
  }
  ElementwiseProgram program;
  program.operands = operands;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::istringstream text(texts[i]);
    std::string name;
    unsigned a = 0;
    unsigned b = 0;
    text >> name >> a;
    const auto kind = elementwise_kind(name);
    if (!kind) return std::nullopt;
    if (is_binary(*kind)) text >> b;
    const size_t limit = operands + i;
    if (text.fail() || a >= limit || b >= limit) return std::nullopt;
    program.instructions.push_back(
        {*kind, static_cast<uint8_t>(a), static_cast<uint8_t>(b), alphas[i], betas[i]});
  }
  return program;
}

Attributes to_attributes(const ElementwiseProgram& program) {
  std::vector<std::string> texts;
  std::vector<float> alphas;
  std::vector<float> betas;
  for (const ElementwiseInstruction& instruction : program.instructions) {
    texts.push_back(
        is_binary(instruction.kind)
            ? fmt::format("{} {} {}", to_string(instruction.kind), instruction.a, instruction.b)
            : fmt::format("{} {}", to_string(instruction.kind), instruction.a));
    alphas.push_back(instruction.alpha);
    betas.push_back(instruction.beta);
  }
  Attributes attributes;
  attributes.set("program", std::move(texts));
  attributes.set("alphas", std::move(alphas));
  attributes.set("betas", std::move(betas));
  return attributes;
}

}  // namespace het
