#include <algorithm>

#include "inference/ops/elementwise/cast.h"
#include "inference/passes/fusions/constant_scale.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/int8/int8_weights.h"
#include "inference/passes/fusions/int8/lowered_qlinear.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// Input positions of QLinear operators: scale and zero point follow each tensor.
constexpr size_t kSrc = 0;
constexpr size_t kWeights = 3;
constexpr size_t kDstScale = 6;
constexpr size_t kBias = 8;

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
  return replace_by_product(model, rules,
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
  std::vector<Value*> inputs = {centred(model, node, kSrc), nullptr};
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
  Shape factors_shape;
  if (factors.size() > 1) {
    factors_shape.assign(sums->desc().shape.size(), 1);
    factors_shape[conv ? 1 : factors_shape.size() - 1] = static_cast<int64_t>(factors.size());
  }
  Value* steps = rescaled(model, node, sums, Tensor::from<float>(factors_shape, factors));
  store_steps(model, node, steps, kDstScale);
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
  Value* a = dequantised(model, node, 0, "/a");
  Value* b = dequantised(model, node, 3, "/b");
  Value* sum = add_value(model, node, "/sum", "Add", {a, b}, as_float(*node.output()));
  Value* steps = add_value(model, node, "/steps", "Div", {sum, node.input(kDstScale)},
                           as_float(*node.output()));
  store_steps(model, node, steps, kDstScale);
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
