#include "devices/cpu/products/int8_product.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/products/finished_product.h"
#include "devices/cpu/products/widened_product.h"
#include "inference/ops/double_values.h"
#include "inference/ops/products/conv.h"

namespace het::cpu {
namespace {

bool is_convolution(const Node& node) {
  return node.op_type() == "Int8Conv";
}

/// Lowest and highest value of a type of bytes.
std::pair<float, float> range_of(ElementType type) {
  return type == ElementType::Int8 ? std::pair{-128.0f, 127.0f} : std::pair{0.0f, 255.0f};
}

/// Part of a step by which a limit of the tail may miss one of the type.
constexpr float kNearLimit = 1e-3f;

/// Expressions that can be computed in steps of the result, zero point included.
bool can_scale(const TailStep& step) {
  return step.sum || step.expression.kind == ElementwiseKind::Clip ||
         step.expression.kind == ElementwiseKind::Round ||
         (step.expression.kind == ElementwiseKind::Relu && step.expression.alpha == 0.0f);
}

/// Post-ops in real values round to whole numbers only.
bool rounds_to_steps(const TailStep& step) {
  return !step.sum && step.expression.kind == ElementwiseKind::Round &&
         step.expression.alpha != 1.0f;
}

/// The post-ops in steps of the stored type; those in front of a Round in its steps, which are
/// returned. What is added at the end (the zero point) moves to the front, so that the bias can
/// take it.
float scale_tail(const Int8Product& product, ElementType type, Int8Arithmetic& made) {
  const auto [lowest, highest] = range_of(type);
  float unit = product.dst_scales[0];
  float offset = static_cast<float>(product.dst_zero);
  bool is_last = true;  // nothing but storing, which saturates, comes behind
  for (auto step = product.tail.rbegin(); step != product.tail.rend(); ++step) {
    if (step->sum) {
      const float scale = product.sum_scale / unit;
      made.post_ops.push_back({PostOp::Kind::Sum, scale, 0.0f});
      offset -= static_cast<float>(product.sum_zero) * scale;
      is_last = false;
      continue;
    }
    if (step->expression.kind == ElementwiseKind::Round) {
      made.post_ops.push_back({PostOp::Kind::Linear, step->expression.alpha / unit, offset});
      made.post_ops.push_back({PostOp::Kind::Round});
      unit = step->expression.alpha;
      offset = 0.0f;
      is_last = false;
      continue;
    }
    const bool relu = step->expression.kind == ElementwiseKind::Relu;
    const float low = (relu ? 0.0f : step->expression.alpha / unit) + offset;
    const float high =
        relu ? std::numeric_limits<float>::max() : step->expression.beta / unit + offset;
    if (is_last && low <= lowest && high >= highest) continue;
    is_last = false;
    PostOp* behind = made.post_ops.empty() ? nullptr : &made.post_ops.back();
    if (behind != nullptr && behind->kind == PostOp::Kind::Clip) {
      *behind = {PostOp::Kind::Clip, std::clamp(low, behind->alpha, behind->beta),
                 std::clamp(high, behind->alpha, behind->beta)};
    } else if (relu && offset == 0.0f) {
      made.post_ops.push_back({PostOp::Kind::Relu, 0.0f, 0.0f});
    } else {
      made.post_ops.push_back({PostOp::Kind::Clip, low, high});
    }
  }
  std::ranges::reverse(made.post_ops);
  made.offsets = {offset};
  return unit;
}

/// Of the result: one, or one for each channel.
std::vector<float> channel_zeros(const Int8Product& product) {
  if (product.dst_zeros.empty()) return {static_cast<float>(product.dst_zero)};
  return {product.dst_zeros.begin(), product.dst_zeros.end()};
}

/// All scales of the result have finite inverses.
bool has_inverses(const std::vector<float>& scales) {
  return std::ranges::all_of(scales, [](float scale) { return std::isfinite(1.0f / scale); });
}

/// A tail before one scale per channel that storing does anyway, as it saturates.
bool is_saturation(const Int8Product& product, ElementType type) {
  const auto range = range_of(type);
  const std::vector<float> zeros = channel_zeros(product);
  return std::ranges::all_of(product.tail, [&](const TailStep& step) {
    if (step.sum || !can_scale(step) || step.expression.kind == ElementwiseKind::Round)
      return false;
    for (size_t c = 0; c < product.dst_scales.size(); ++c) {
      const float zero = zeros[zeros.size() == 1 ? 0 : c];
      if (step.expression.kind == ElementwiseKind::Relu) {
        if (zero > range.first) return false;
        continue;
      }
      // What lies that near to a limit is rounded to it.
      const float unit = product.dst_scales[c];
      if (step.expression.alpha / unit + zero > range.first + kNearLimit ||
          step.expression.beta / unit + zero < range.second - kNearLimit) {
        return false;
      }
    }
    return true;
  });
}

/// In real values, divided by the scale of the result at the end.
void append_rescaling(const Int8Product& product, Int8Arithmetic& made) {
  made.post_ops = post_ops_of(product.tail);
  for (PostOp& op : made.post_ops) {
    if (op.kind == PostOp::Kind::Sum) {
      op = {PostOp::Kind::Sum, product.sum_scale, static_cast<float>(product.sum_zero)};
    }
  }
  const float scale = 1.0f / product.dst_scales[0];
  const auto zero = static_cast<float>(product.dst_zero);
  if (!made.post_ops.empty() && made.post_ops.back().kind == PostOp::Kind::Linear) {
    PostOp& last = made.post_ops.back();
    last = {PostOp::Kind::Linear, last.alpha * scale, last.beta * scale + zero};
  } else {
    made.post_ops.push_back({PostOp::Kind::Linear, scale, zero});
  }
}

/// For every output channel the sum of its weights, each less `zero`.
std::vector<double> channel_sums(const Tensor& weights, bool convolution, int32_t zero) {
  const Shape shape = weights.shape();
  const int64_t channels = convolution ? shape[0] : shape[1];
  const int64_t rows = weights.element_count() / std::max<int64_t>(channels, 1);
  std::vector<double> sums(static_cast<size_t>(channels), -static_cast<double>(zero * rows));
  const int8_t* next = weights.data<int8_t>();
  if (convolution) {
    for (double& sum : sums) {
      int64_t exact = 0;
      for (int64_t i = 0; i < rows; ++i) exact += *next++;
      sum += static_cast<double>(exact);
    }
    return sums;
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (double& sum : sums) sum += *next++;
  }
  return sums;
}

}  // namespace

Result<Int8Arithmetic> int8_values(const Node& node) {
  const Int8Product product = int8_product_of(node);
  Int8Arithmetic made;
  HET_ASSIGN(made.quantisation.scales, to_float_vector(node.input(kInt8ScalesInput)->constant()));
  made.quantisation.weights_zero = product.weights_zero;
  // Zeros around the picture are values of the zero point: then the kernel must know it.
  if (!product.src_zeros.empty()) {
    made.src_zeros = product.src_zeros;
  } else if (is_padded(node)) {
    made.quantisation.src_zero = product.src_zero;
  } else {
    made.compensated = product.src_zero;
  }
  made.has_bias = node.input(kTailBiasInput) != nullptr || made.compensated != 0;
  return made;
}

Result<Int8Arithmetic> int8_arithmetic(const Node& node) {
  const Int8Product product = int8_product_of(node);
  HET_ASSIGN(Int8Arithmetic made, int8_values(node));
  const ElementType type = node.output()->desc().type;
  made.dst = type;
  const bool scaled = is_byte(type) && std::ranges::all_of(product.tail, can_scale);
  if (!scaled && std::ranges::any_of(product.tail, rounds_to_steps)) {
    return error(StatusCode::NotSupported, "a tail that rounds to steps in real values");
  }
  if (!is_byte(type)) {
    made.post_ops = post_ops_of(product.tail);
  } else if (product.dst_scales.size() > 1) {
    if (is_saturation(product, type)) {
      std::vector<float>& scales = made.quantisation.scales;
      scales.resize(product.dst_scales.size(), scales.front());
      for (size_t c = 0; c < scales.size(); ++c) scales[c] /= product.dst_scales[c];
      made.offsets = channel_zeros(product);
    } else if (!has_inverses(product.dst_scales) ||
               std::ranges::any_of(product.tail, [](const TailStep& step) {
                 return step.sum || step.expression.kind == ElementwiseKind::Round;
               })) {
      return error(StatusCode::NotSupported, "such a tail before one scale per channel");
    } else {
      made.post_ops = post_ops_of(product.tail);
      for (const float scale : product.dst_scales) made.dst_factors.push_back(1.0f / scale);
      made.dst_zeros = channel_zeros(product);
    }
  } else if (scaled) {
    const float unit = scale_tail(product, type, made);
    for (float& scale : made.quantisation.scales) scale /= unit;
  } else {
    append_rescaling(product, made);
  }
  for (size_t i = 0; i < made.post_ops.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (made.post_ops[i].kind != made.post_ops[k].kind) continue;
      return error(StatusCode::NotSupported, "two post-ops of one kind");
    }
  }
  made.has_bias = made.has_bias ||
                  std::ranges::any_of(made.offsets, [](float offset) { return offset != 0.0f; });
  return made;
}

Result<std::vector<double>> int8_bias_in_sums(const Node& node, const Int8Arithmetic& arithmetic) {
  const std::vector<float>& scales = arithmetic.quantisation.scales;
  const auto channels =
      static_cast<size_t>(node.input(1)->desc().shape[is_convolution(node) ? 0 : 1]);
  std::vector<double> sums(channels, 0.0);
  if (const Value* bias = node.input(kTailBiasInput)) {
    HET_ASSIGN(const std::vector<double> values, to_double_vector(bias->constant()));
    std::ranges::copy(values, sums.begin());
  }
  if (arithmetic.compensated != 0) {
    const std::vector<double> weights = channel_sums(
        node.input(1)->constant(), is_convolution(node), arithmetic.quantisation.weights_zero);
    for (size_t c = 0; c < channels; ++c) sums[c] -= arithmetic.compensated * weights[c];
  }
  for (size_t c = 0; c < channels; ++c) {
    const float offset = arithmetic.offsets[arithmetic.offsets.size() == 1 ? 0 : c];
    sums[c] += static_cast<double>(offset) / scales[scales.size() == 1 ? 0 : c];
  }
  return sums;
}

Result<Tensor> int8_bias(const Node& node, const Int8Arithmetic& arithmetic) {
  HET_ASSIGN(const std::vector<double> sums, int8_bias_in_sums(node, arithmetic));
  const bool is_whole = std::ranges::all_of(
      sums, [](double sum) { return sum == std::trunc(sum) && std::abs(sum) < 0x1p31; });
  const Shape shape = {std::ssize(sums)};
  const Tensor bias =
      is_whole ? Tensor::from<int32_t>(shape, std::vector<int32_t>(sums.begin(), sums.end()))
               : Tensor::from<float>(shape, std::vector<float>(sums.begin(), sums.end()));
  return bias_of_sums(bias, arithmetic.quantisation);
}

Result<ConvolutionSpec> int8_convolution_spec(const Node& node, const Int8Arithmetic& arithmetic) {
  const TensorDesc& src = node.input(0)->desc();
  const TensorDesc& dst = node.output()->desc();
  HET_ASSIGN(const ConvAttributes window,
             conv_attributes(node, src.shape, node.input(1)->desc().shape));
  ConvolutionSpec spec;
  spec.src = {src.type, src.shape, Format::Plain};
  spec.dst = {arithmetic.dst, dst.shape, Format::Plain};
  spec.weights = node.input(1)->desc().shape;
  spec.weights_type = ElementType::Int8;
  spec.groups = window.group;
  spec.strides = window.strides;
  spec.dilations = window.dilations;
  spec.pads_begin = window.pads_begin;
  spec.pads_end = window.pads_end;
  spec.post_ops = arithmetic.post_ops;
  spec.quantisation = arithmetic.quantisation;
  if (spec.src.shape.size() == 3) add_height(spec);
  return spec;
}

Result<MatMulSpec> int8_matmul_spec(const Node& node, const Int8Arithmetic& arithmetic) {
  const TensorDesc& src = node.input(0)->desc();
  const Shape& weights = node.input(1)->desc().shape;
  MatMulSpec spec;
  spec.weights_transposed = is_convolution(node);
  const int64_t depth = weights[spec.weights_transposed ? 1 : 0];
  const int64_t columns = weights[spec.weights_transposed ? 0 : 1];
  if (depth == 0) return error(StatusCode::NotSupported, "a product over nothing");
  const int64_t rows = element_count(src.shape) / depth;
  spec.src = {src.type, {rows, depth}, Format::Plain};
  spec.weights = {ElementType::Int8, {depth, columns}, Format::Plain};
  spec.dst = {arithmetic.dst, {rows, columns}, Format::Plain};
  spec.weights_packed = true;
  spec.bias = {1, columns};
  spec.post_ops = arithmetic.post_ops;
  spec.quantisation = arithmetic.quantisation;
  return spec;
}

bool has_onednn_int8(const Node& node, const Int8Arithmetic& arithmetic) {
  if (!has_exact_int8() || !arithmetic.src_zeros.empty() || !arithmetic.dst_factors.empty()) {
    return false;
  }
  const auto is_there = [](const Result<std::string>& implementation) {
    return implementation && is_generated(*implementation);
  };
  const auto with_bias = [&](auto spec) {
    if (arithmetic.has_bias) spec.bias_type = ElementType::Float32;
    return spec;
  };
  if (is_convolution(node) && arithmetic.quantisation.weights_zero == 0) {
    const auto spec = int8_convolution_spec(node, arithmetic);
    return spec && is_there(convolution_implementation(with_bias(*spec)));
  }
  if (is_convolution(node) && !is_pixelwise(node)) return false;
  const auto spec = int8_matmul_spec(node, arithmetic);
  return spec && is_there(matmul_implementation(with_bias(*spec)));
}

bool has_int8_kernel(const Node& node) {
  const Result<Int8Arithmetic> arithmetic = int8_arithmetic(node);
  if (!arithmetic) return false;
  return has_onednn_int8(node, *arithmetic) || widened_shape(node, *arithmetic).has_value() ||
         prefers_finished(node, *arithmetic);
}

}  // namespace het::cpu
