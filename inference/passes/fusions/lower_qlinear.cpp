#include <algorithm>

#include "inference/ops/cast.h"
#include "inference/passes/fusions/constant_scale.h"
#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/int8_product.h"
#include "inference/passes/fusions/int8_weights.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Input positions of QLinear operators: scale and zero point follow each tensor.
constexpr size_t kSrc = 0;
constexpr size_t kWeights = 3;
constexpr size_t kDstScale = 6;
constexpr size_t kBias = 8;

Value* add_value(Model& model, const Node& like, const std::string& suffix, const std::string& type,
                 std::vector<Value*> inputs, TensorDesc desc, Attributes attributes = {}) {
  Node* made = model.add_node(like.name() + suffix, type, "", std::move(inputs),
                              {like.output()->name() + suffix}, std::move(attributes));
  made->add_original_names(like.original_names());
  model.set_desc(made->output(), std::move(desc));
  return made->output();
}

/// w - zero[c] as float, where c is dimension `axis`.
Result<Value*> centred_weights(Model& model, const Value& weights, const ConstantScale& scale,
                               size_t axis) {
  const Shape& shape = weights.desc().shape;
  HET_ASSIGN(Tensor centred, Tensor::allocate({ElementType::Float32, shape}));
  HET_TRY(cast_elements(weights.constant(), centred));
  // A zero point stands for this many values in a row.
  const int64_t run = scale.per_tensor() ? centred.element_count()
                                         : element_count(std::span(shape).subspan(axis + 1));
  size_t channel = 0;
  float* next = centred.data<float>();
  for (const float* end = next + centred.element_count(); next < end; next += run) {
    const auto zero = static_cast<float>(scale.zeros[channel]);
    std::transform(next, next + run, next, [zero](float value) { return value - zero; });
    channel = channel + 1 < scale.zeros.size() ? channel + 1 : 0;
  }
  return model.add_constant(weights.name() + "/centred", std::move(centred));
}

/// Turns integer sums into steps of the stored type by one factor, or one per channel. No Mul,
/// which would be folded into the weights: these must stay integers.
Value* rescaled(Model& model, const Node& node, Value* sums, const std::vector<float>& factors,
                size_t axis) {
  ElementwiseProgram program;
  std::vector<Value*> operands = {sums};
  if (factors.size() == 1) {
    program.instructions = {{ElementwiseKind::Linear, 0, 0, factors[0], 0.0f}};
  } else {
    Shape shape(sums->desc().shape.size(), 1);
    shape[axis] = static_cast<int64_t>(factors.size());
    operands.push_back(
        model.add_constant(node.name() + "/rescaling", Tensor::from<float>(shape, factors)));
    program.instructions = {{ElementwiseKind::Mul, 0, 1}};
  }
  program.operands = operands.size();
  Node* made = model.add_node(node.name() + "/rescaled", "Elementwise", "het", operands,
                              {node.output()->name() + "/rescaled"}, to_attributes(program));
  made->add_original_names(node.original_names());
  model.set_desc(made->output(), sums->desc());
  return made->output();
}

/// Ends a lowered node: its result, a float in steps of the stored type, is stored for the readers.
void finish(Model& model, Node& node, Value* steps) {
  Value* old = node.output();
  Value* one = model.add_constant(node.name() + "/one", Tensor::scalar(1.0f));
  Value* quantised = add_value(model, node, "/quantised", "QuantizeLinear",
                               {steps, one, node.input(kDstScale + 1)}, old->desc());
  model.replace_uses(old, quantised);
  detach(model, node);
}

TensorDesc as_float(const Value& value) {
  return {ElementType::Float32, value.desc().shape, Layout::Plain};
}

Value* dequantise(Model& model, const Node& node, size_t index, const std::string& suffix) {
  Value* value = node.input(index);
  return add_value(model, node, suffix, "DequantizeLinear",
                   {value, node.input(index + 1), node.input(index + 2)}, as_float(*value));
}

/// As het.Int8Conv or het.Int8MatMul; false when no kernel can take it.
bool lower_to_int8(Model& model, Node& node, const ConstantScale& src, const ConstantScale& weights,
                   const ConstantScale& dst, const Int8Rules& rules) {
  const bool conv = node.op_type() == "QLinearConv";
  const Value& old_weights = *node.input(kWeights);
  if (rules.can_run == nullptr || (!conv && (old_weights.desc().shape.size() != 2 ||
                                             node.input(kSrc)->desc().shape.size() < 2))) {
    return false;
  }
  std::optional<Int8Weights> stored = int8_weights(old_weights.constant(), weights);
  if (!stored) return false;
  std::vector<float> scales = weights.scales;
  for (float& scale : scales) scale *= src.scales[0];
  const std::vector<Value*> inputs = {
      node.input(kSrc),
      model.add_constant(old_weights.name() + "/int8", std::move(stored->content)),
      conv ? node.input(kBias) : nullptr, nullptr,
      model.add_constant(node.name() + "/scales",
                         Tensor::from<float>({static_cast<int64_t>(scales.size())}, scales))};
  Attributes attributes = conv ? node.attributes() : Attributes();
  Int8Product product;
  product.src_zero = static_cast<int32_t>(src.zeros[0]);
  product.weights_zero = stored->zero;
  product.dst_scales = dst.scales;
  product.dst_zero = static_cast<int32_t>(dst.zeros[0]);
  set_int8_product(attributes, product);
  return replace_if(model, rules.can_run,
                    {&node, &node, conv ? "Int8Conv" : "Int8MatMul", "het", inputs,
                     std::move(attributes)}) != nullptr;
}

/// QLinearConv and QLinearMatMul: on int8 kernels or, where there are none, in float.
Status lower_product(Model& model, Node& node, const Int8Rules& rules) {
  const bool conv = node.op_type() == "QLinearConv";
  const std::optional<ConstantScale> src = constant_scale(node, kSrc + 1);
  const std::optional<ConstantScale> weights = constant_scale(node, kWeights + 1);
  const std::optional<ConstantScale> dst = constant_scale(node, kDstScale);
  const Value* bias = conv ? node.input(kBias) : nullptr;
  if (!src || !weights || !dst || !src->per_tensor() || !dst->per_tensor() ||
      !node.input(kWeights)->is_constant() || (bias != nullptr && !bias->is_constant())) {
    return {};
  }
  const size_t rank = node.input(kWeights)->desc().shape.size();
  const size_t axis = conv ? 0 : rank - 1;
  if (!weights->per_tensor() &&
      static_cast<int64_t>(weights->scales.size()) != node.input(kWeights)->desc().shape[axis]) {
    return {};
  }
  if (lower_to_int8(model, node, *src, *weights, *dst, rules)) return {};
  // Everything stays an integer until the rescaling, so results are those of int8 arithmetic as
  // long as sums stay below 2^24.
  Value* one = model.add_constant(node.name() + "/one", Tensor::scalar(1.0f));
  Value* src_value = node.input(kSrc);
  std::vector<Value*> inputs = {
      add_value(model, node, "/centred", "DequantizeLinear", {src_value, one, node.input(kSrc + 2)},
                as_float(*src_value)),
      nullptr};
  HET_ASSIGN(inputs[1], centred_weights(model, *node.input(kWeights), *weights, axis));
  if (bias != nullptr) {
    HET_ASSIGN(const std::vector<float> values, to_float_vector(bias->constant()));
    inputs.push_back(model.add_constant(bias->name() + "/float",
                                        Tensor::from<float>(bias->desc().shape, values)));
  }
  Value* sums = add_value(model, node, "/product", conv ? "Conv" : "MatMul", std::move(inputs),
                          as_float(*node.output()), conv ? node.attributes() : Attributes());
  std::vector<float> factors;
  for (const float scale : weights->scales) {
    factors.push_back(src->scales[0] * scale / dst->scales[0]);
  }
  const size_t last = node.output()->desc().shape.size() - 1;
  finish(model, node, rescaled(model, node, sums, factors, conv ? 1 : last));
  return {};
}

bool is_lowered(const Value* value) {
  return value->producer() != nullptr && value->producer()->op_type() == "QuantizeLinear";
}

/// Additions between lowered nodes, so that float values need not pass through bytes in plain
/// format.
void lower_addition(Model& model, Node& node) {
  const std::optional<ConstantScale> dst = constant_scale(node, kDstScale);
  if (!dst || !dst->per_tensor()) return;
  if (!is_lowered(node.input(0)) || !is_lowered(node.input(3))) return;
  if (node.input(0)->desc().shape != node.input(3)->desc().shape) return;
  Value* a = dequantise(model, node, 0, "/a");
  Value* b = dequantise(model, node, 3, "/b");
  Value* sum = add_value(model, node, "/sum", "Add", {a, b}, as_float(*node.output()));
  finish(model, node,
         add_value(model, node, "/steps", "Div", {sum, node.input(kDstScale)},
                   as_float(*node.output())));
}

}  // namespace

Status lower_qlinear(Model& model, const Int8Rules& rules) {
  // New nodes come last; a lowered addition sees what was lowered before it.
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || node.op() == nullptr) continue;
    // Operators without inputs, or with the first one omitted, are none of these.
    const Value* src = node.input(0);
    if (src == nullptr || !src->desc().is_static() || !node.output()->desc().is_static()) continue;
    if (node.op_type() == "QLinearConv" || node.op_type() == "QLinearMatMul") {
      HET_TRY(lower_product(model, node, rules));
    } else if (node.op_type() == "QLinearAdd" && node.domain() == "com.microsoft") {
      lower_addition(model, node);
    }
  }
  return {};
}

}  // namespace het
