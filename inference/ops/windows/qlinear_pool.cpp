#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/quantisation/quantization.h"
#include "inference/ops/windows/pool_loops.h"

namespace het {
namespace {

/// [n, spatial..., c] -> [n, c, spatial...], when the node has channels_last; else unchanged.
Shape channels_first(const Node& node, Shape shape) {
  if (node.attributes().get_int("channels_last", 0) != 0 && shape.size() > 2) {
    shape.insert(shape.begin() + 1, shape.back());
    shape.pop_back();
  }
  return shape;
}

Status infer_qlinear_pool(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"channels_last", AttributeType::Int}}));
  HET_TRY(check_quantized_input(context, 0, "X"));
  HET_ASSIGN(const ElementType type, quantized_output_type(context, 3, context.type(0)));
  HET_ASSIGN(PoolAttributes pool,
             pool_attributes(context.node(), channels_first(context.node(), context.shape(0))));
  Shape shape = std::move(pool.output_shape);
  if (context.attributes().get_int("channels_last", 0) != 0) {
    shape.push_back(shape[1]);
    shape.erase(shape.begin() + 1);
  }
  context.set_output(0, type, std::move(shape));
  return {};
}

/// Exact sums of (x - zero_point), then round(sum * x_scale / (count * y_scale)). With
/// count_include_pad the count is the whole kernel even where ceil_mode leaves the padded input:
/// the operator is defined by ONNX Runtime, which does so.
Status evaluate_qlinear_pool(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  const Shape shape = channels_first(context.node(), x.shape());
  HET_ASSIGN(const PoolAttributes pool, pool_attributes(context.node(), shape));
  HET_ASSIGN(const AffineScale x_scale, affine_scale(context, 1));
  HET_ASSIGN(const AffineScale y_scale, affine_scale(context, 3));
  const Window3 win = window3(pool, std::span(shape).subspan(2));
  const IntegerRange range = integer_range(y.type());
  const bool last = context.attributes().get_int("channels_last", 0) != 0;
  const int64_t channels = shape[1];
  const int64_t step = last ? channels : 1;
  for (int64_t p = 0; p < shape[0] * channels; ++p) {
    const auto first = [&](int64_t area) {
      return last ? p / channels * channels * area + p % channels : p * area;
    };
    const int64_t src = first(win.in_count());
    const int64_t dst = first(win.out_count());
    for_each_window(win, [&](int64_t position, const std::array<TapRange, 3>& ranges) {
      int64_t sum = 0;
      for_each_element(win, ranges, [&](int64_t i) {
        sum += load_integer(x.bytes(), x.type(), src + i * step) - x_scale.zero_point;
      });
      const int64_t taps = pool.count_include_pad ? win.kernel_count() : inside_count(ranges);
      const int64_t count = std::max<int64_t>(1, taps);
      const float value =
          static_cast<float>(sum) * (x_scale.scale / (static_cast<float>(count) * y_scale.scale));
      store_integer(y.bytes(), y.type(), dst + position * step,
                    saturate_quantized(value, y_scale.zero_point, range.lowest, range.highest));
    });
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_qlinear_pool(OpRegistry& registry) {
  registry.add(
      {"QLinearAveragePool", "com.microsoft", 1, 4, 5, infer_qlinear_pool, evaluate_qlinear_pool});
  registry.add({"QLinearGlobalAveragePool", "com.microsoft", 1, 4, 5, infer_qlinear_pool,
                evaluate_qlinear_pool});
}

}  // namespace het
