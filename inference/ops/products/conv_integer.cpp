#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/products/conv.h"
#include "inference/ops/products/conv_loops.h"
#include "inference/ops/quantisation/quantization.h"

namespace het {
namespace {

/// One value for the tensor, or one per output channel.
Status check_per_channel(const InferContext& context, size_t index, std::string_view name,
                         int64_t channels) {
  const int64_t count = element_count(context.shape(index));
  if (count == 1 || context.shape(index) == Shape{channels}) return {};
  return error(StatusCode::ShapeMismatch,
               "{} has shape {}, but must be one value or [{}], one per output channel", name,
               to_string(context.shape(index)), channels);
}

Status infer_conv_integer(InferContext& context) {
  HET_TRY(check_input(context, 0, "x", kByteTypes));
  HET_TRY(check_input(context, 1, "w", kByteTypes));
  HET_ASSIGN(ConvAttributes conv,
             conv_attributes(context.node(), context.shape(0), context.shape(1)));
  for (const size_t i : {size_t{2}, size_t{3}}) {
    if (!context.has_input(i)) continue;
    HET_TRY(check_same_type(context, i - 2, i));
    HET_TRY(check_per_channel(context, i, i == 2 ? "x_zero_point" : "w_zero_point",
                              i == 2 ? 1 : conv.output_shape[1]));
  }
  context.set_output(0, ElementType::Int32, std::move(conv.output_shape));
  return {};
}

/// Sums (x - zero point) * (w - zero point); sums wrap around in 32 bits. Padding counts as the
/// zero point.
template <class Store>
Status sum_products(EvaluateContext& context, size_t w_index, size_t x_zero_point,
                    size_t w_zero_point, const Store& store) {
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(w_index);
  HET_ASSIGN(const ConvAttributes conv, conv_attributes(context.node(), x.shape(), w.shape()));
  const std::vector<int32_t> src = centered_values(x, zero_points(context, x_zero_point, 1));
  const std::vector<int32_t> weights = centered_values(w, zero_points(context, w_zero_point, 1));
  convolve<uint32_t>(
      conv, x.shape(),
      [&](int64_t i) { return static_cast<uint32_t>(src[static_cast<size_t>(i)]); },
      [&](int64_t i, int64_t) { return static_cast<uint32_t>(weights[static_cast<size_t>(i)]); },
      store);
  return {};
}

Status evaluate_conv_integer(EvaluateContext& context) {
  int32_t* dst = context.output(0).data<int32_t>();
  return sum_products(context, 1, 2, 3, [&](int64_t i, int64_t, uint32_t sum) {
    dst[i] = static_cast<int32_t>(sum);
  });
}

Status infer_qlinear_conv(InferContext& context) {
  HET_TRY(check_quantized_input(context, 0, "x"));
  HET_TRY(check_input(context, 3, "w", kByteTypes));
  HET_TRY(check_input(context, 4, "w_scale", kFloatTypes));
  HET_TRY(check_same_type(context, 3, 5));
  HET_ASSIGN(ConvAttributes conv,
             conv_attributes(context.node(), context.shape(0), context.shape(3)));
  const int64_t channels = conv.output_shape[1];
  HET_TRY(check_per_channel(context, 4, "w_scale", channels));
  HET_TRY(check_per_channel(context, 5, "w_zero_point", channels));
  HET_ASSIGN(const ElementType type, quantized_output_type(context, 6, context.type(0)));
  HET_TRY(check_optional_input(context, 8, "B", {ElementType::Int32}));
  HET_TRY(check_bias(context, 8, channels));
  context.set_output(0, type, std::move(conv.output_shape));
  return {};
}

/// Exact sums in 32 bits, then round(sum * (x_scale * w_scale / y_scale)) in float.
Status evaluate_qlinear_conv(EvaluateContext& context) {
  HET_ASSIGN(const std::vector<float> x_scale, scales(context, 1));
  HET_ASSIGN(const std::vector<float> w_scale, scales(context, 4));
  HET_ASSIGN(const AffineScale y_scale, affine_scale(context, 6));
  Tensor& y = context.output(0);
  const IntegerRange range = integer_range(y.type());
  const int32_t* bias = context.has_input(8) ? context.input(8).data<int32_t>() : nullptr;
  return sum_products(context, 3, 2, 5, [&](int64_t i, int64_t oc, uint32_t sum) {
    const float scale = w_scale[w_scale.size() == 1 ? 0 : static_cast<size_t>(oc)];
    if (bias != nullptr) sum += static_cast<uint32_t>(bias[oc]);
    const float value =
        static_cast<float>(static_cast<int32_t>(sum)) * (x_scale[0] * scale / y_scale.scale);
    store_integer(y.bytes(), y.type(), i,
                  saturate_quantized(value, y_scale.zero_point, range.lowest, range.highest));
  });
}

}  // namespace

HET_REGISTRATION void register_conv_integer(OpRegistry& registry) {
  registry.add({"ConvInteger", "", 10, 2, 4, infer_conv_integer, evaluate_conv_integer});
  registry.add({"QLinearConv", "", 10, 8, 9, infer_qlinear_conv, evaluate_qlinear_conv});
}

}  // namespace het
