#include <algorithm>
#include <cmath>
#include <functional>

#include "inference/ops/op.h"
#include "inference/passes/fusions/constant_scale.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/int8/int8_product.h"
#include "inference/passes/fusions/int8/int8_weights.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// Weights, [OC,...] or [K,N], and one scale or one per output channel.
struct ScaledWeights {
  Int8Weights stored;
  std::vector<float> scales;
};

Result<Tensor> transposed(const Tensor& matrix) {
  const Shape shape = matrix.shape();
  HET_ASSIGN(Tensor result, Tensor::allocate({ElementType::Int8, {shape[1], shape[0]}}));
  const int8_t* from = matrix.data<int8_t>();
  int8_t* to = result.data<int8_t>();
  for (int64_t r = 0; r < shape[0]; ++r) {
    for (int64_t c = 0; c < shape[1]; ++c) to[c * shape[0] + r] = from[r * shape[1] + c];
  }
  return result;
}

/// Constant weights behind a DequantizeLinear whose scales are those of output channels, dimension
/// `channel_axis`.
std::optional<ScaledWeights> weights_of(const Value& value, size_t channel_axis) {
  const Node* node = dequantised_constant(value);
  const bool reshaped = node != nullptr && node->output() != &value;
  if (node == nullptr || (reshaped && channel_axis != 0) ||
      value.desc().type != ElementType::Float32 ||
      node->attributes().get_int("block_size", 0) != 0) {
    return std::nullopt;
  }
  const std::optional<ConstantScale> scale = constant_scale(*node, 1);
  const Tensor& stored = node->input(0)->constant();
  if (!scale) return std::nullopt;
  if (!scale->per_tensor()) {
    const auto rank = static_cast<int64_t>(stored.shape().size());
    const Result<int64_t> axis = normalize_axis(node->attributes().get_int("axis", 1), rank);
    if (!axis || *axis != static_cast<int64_t>(channel_axis)) return std::nullopt;
  }
  const bool is_sound =
      std::ranges::all_of(scale->scales, [](float s) { return s > 0.0f && std::isfinite(s); });
  std::optional<Int8Weights> weights = is_sound ? int8_weights(stored, *scale) : std::nullopt;
  if (!weights) return std::nullopt;
  if (reshaped) {
    Result<Tensor> view = weights->content.reshaped(value.desc().shape);
    if (!view) return std::nullopt;
    weights->content = std::move(*view);
  }
  return ScaledWeights{std::move(*weights), scale->scales};
}

/// The values of a constant, or of one that is stored in integers.
std::optional<std::vector<float>> constant_floats(const Value& value) {
  const Tensor* content = value.is_constant() ? &value.constant() : nullptr;
  std::vector<Tensor> results;
  const Node* node = value.producer();
  if (node != nullptr && node->op_type() == "DequantizeLinear" && node->op() != nullptr) {
    std::vector<const Tensor*> inputs;
    for (const Value* input : node->inputs()) {
      if (input != nullptr && !input->is_constant()) return std::nullopt;
      inputs.push_back(input != nullptr ? &input->constant() : nullptr);
    }
    Result<std::vector<Tensor>> evaluated = evaluate_node(*node, inputs);
    if (!evaluated) return std::nullopt;
    results = std::move(*evaluated);
    content = results.data();
  }
  if (content == nullptr || content->type() != ElementType::Float32) return std::nullopt;
  const auto values = content->values<float>();
  return std::vector<float>(values.begin(), values.end());
}

/// Gemm as a plain product with a row added, MatMul of matrices.
bool is_plain_product(const Node& node) {
  if (node.input(1)->desc().shape.size() != 2 || node.input(0)->desc().shape.size() < 2) {
    return false;
  }
  const Attributes& a = node.attributes();
  return node.op_type() == "MatMul" ||
         (a.get_int("transA", 0) == 0 && a.get_float("alpha", 1.0f) == 1.0f &&
          a.get_float("beta", 1.0f) == 1.0f);
}

Status quantise_product(Model& model, Node& node, const Int8Rules& rules) {
  const bool conv = node.op_type() == "Conv";
  if (!conv && !is_plain_product(node)) return {};
  const std::optional<StoredValue> src =
      stored_behind(*node.input(0), conv ? Steps::PerTensorOrChannel : Steps::PerTensor);
  if (!src) return {};
  const bool swapped = !conv && node.attributes().get_int("transB", 0) != 0;
  std::optional<ScaledWeights> weights = weights_of(*node.input(1), conv || swapped ? 0 : 1);
  if (!weights) return {};
  if (swapped) {
    HET_ASSIGN(weights->stored.content, transposed(weights->stored.content));
  }
  std::vector<float> scales = weights->scales;
  const int64_t channels = weights->stored.content.shape()[conv ? 0 : 1];
  if (src->channel_scales.empty()) {
    for (float& scale : scales) scale *= src->scale;
  } else {
    // A scale per channel of the source is one of the result where each channel is alone.
    const auto count = std::ssize(src->channel_scales);
    if (node.attributes().get_int("group", 1) != count || channels != count) return {};
    scales.resize(src->channel_scales.size(), scales.front());
    std::ranges::transform(scales, src->channel_scales, scales.begin(), std::multiplies<>());
  }
  std::vector<Value*> inputs = {src->stored, nullptr, nullptr, nullptr, nullptr};
  if (node.op_type() != "MatMul" && node.input(2) != nullptr) {
    std::optional<std::vector<float>> bias = constant_floats(*node.input(2));
    if (!bias || (bias->size() != 1 && std::ssize(*bias) != channels) ||
        (node.input(2)->desc().shape.size() > 1 && bias->size() != 1 &&
         node.input(2)->desc().shape.back() != channels)) {
      return {};
    }
    bias->resize(static_cast<size_t>(channels), bias->front());
    for (size_t c = 0; c < bias->size(); ++c) (*bias)[c] /= scales[scales.size() == 1 ? 0 : c];
    inputs[kTailBiasInput] =
        model.add_constant(node.name() + "/bias", Tensor::from<float>({channels}, *bias));
  }
  inputs[1] =
      model.add_constant(node.input(1)->name() + "/int8", std::move(weights->stored.content));
  inputs[kInt8ScalesInput] = model.add_constant(
      node.name() + "/scales", Tensor::from<float>({static_cast<int64_t>(scales.size())}, scales));
  Attributes attributes = conv ? node.attributes() : Attributes();
  Int8Product product;
  product.src_zero = src->zero;
  product.src_zeros = src->channel_zeros;
  product.weights_zero = weights->stored.zero;
  set_int8_product(attributes, product);
  replace_by_product(model, rules,
                     {&node, &node, conv ? "Int8Conv" : "Int8MatMul", "het", std::move(inputs),
                      std::move(attributes)});
  return {};
}

}  // namespace

Status quantise_products(Model& model, const Int8Rules& rules) {
  if (rules.can_run == nullptr) return {};
  const size_t count = model.nodes().size();  // new nodes come last
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    const std::string& type = node.op_type();
    if ((type != "Conv" && type != "MatMul" && type != "Gemm") || node.op() == nullptr ||
        is_detached(node) || !node.output()->desc().is_static() ||
        element_count(node.output()->desc().shape) == 0 ||
        element_count(node.input(0)->desc().shape) == 0) {
      continue;
    }
    HET_TRY(quantise_product(model, node, rules));
  }
  return {};
}

}  // namespace het
