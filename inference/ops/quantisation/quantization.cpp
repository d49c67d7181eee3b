#include "inference/ops/quantisation/quantization.h"

#include <algorithm>

#include "inference/ops/axis_split.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/type_dispatch.h"

namespace het {

Result<QuantizationGrid> quantization_grid(const Node& node, const Shape& x, const Shape& scale) {
  QuantizationGrid grid;
  const int64_t block_size = node.attributes().get_int("block_size", 0);
  if (block_size < 0) {
    return error(StatusCode::InvalidArgument, "block_size is {}, but must be positive", block_size);
  }
  const bool blocked = block_size > 0 && scale.size() == x.size() && !x.empty();
  if (!blocked && element_count(scale) == 1) return grid;
  if (!blocked && scale.size() != 1) {
    return error(
        StatusCode::ShapeMismatch,
        "the scale has shape {} for x of shape {} with block_size {}; it must be a scalar, "
        "a list along the axis, or of x's rank with a block_size",
        to_string(scale), to_string(x), block_size);
  }
  // The default axis 1 does not exist in a list, where the only one is meant.
  const int64_t axis = x.size() == 1 ? 0 : node.attributes().get_int("axis", 1);
  HET_ASSIGN(const AxisSplit split, axis_split(x, axis));
  Shape expected = x;
  const int64_t rank = static_cast<int64_t>(x.size());
  const auto at = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  grid.length = split.length;
  grid.inner = split.inner;
  if (blocked) {
    expected[at] = split.length / block_size + (split.length % block_size != 0 ? 1 : 0);
    grid.block = block_size;
    grid.outer_step = expected[at] * split.inner;
    grid.block_step = split.inner;
    grid.inner_step = 1;
  } else {
    expected = {split.length};
    grid.block_step = 1;
  }
  if (scale != expected) {
    return error(StatusCode::ShapeMismatch,
                 "the scale has shape {} for x of shape {}, axis {} and block_size {}, but must "
                 "have shape {}",
                 to_string(scale), to_string(x), axis, block_size, to_string(expected));
  }
  return grid;
}

std::vector<int64_t> zero_points(const EvaluateContext& context, size_t index, int64_t count) {
  if (!context.has_input(index)) return std::vector<int64_t>(static_cast<size_t>(count));
  const Tensor& tensor = context.input(index);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    values.push_back(load_integer(tensor.bytes(), tensor.type(), i));
  }
  return values;
}

Result<std::vector<float>> scales(const EvaluateContext& context, size_t index) {
  const Tensor& tensor = context.input(index);
  return dispatch_float(tensor.type(), [&]<class T>() -> Result<std::vector<float>> {
    std::vector<float> values;
    for (const T value : tensor.values<T>()) values.push_back(static_cast<float>(value));
    return values;
  });
}

namespace {

Status check_single(const InferContext& context, size_t index, std::string_view what) {
  if (element_count(context.shape(index)) == 1) return {};
  return error(StatusCode::NotSupported,
               "the {} in input {} has shape {}; only one value is "
               "supported",
               what, index, to_string(context.shape(index)));
}

}  // namespace

Status check_quantized_input(const InferContext& context, size_t index, std::string_view name) {
  HET_TRY(check_input(context, index, name, kByteTypes));
  HET_TRY(check_input(context, index + 1, "scale", kFloatTypes));
  HET_TRY(check_single(context, index + 1, "scale"));
  if (!context.has_input(index + 2)) return {};
  HET_TRY(check_same_type(context, index, index + 2));
  return check_single(context, index + 2, "zero point");
}

Result<ElementType> quantized_output_type(const InferContext& context, size_t index,
                                          ElementType fallback) {
  HET_TRY(check_input(context, index, "scale", kFloatTypes));
  HET_TRY(check_single(context, index, "scale"));
  if (!context.has_input(index + 1)) return fallback;
  HET_TRY(check_input(context, index + 1, "zero_point", kByteTypes));
  HET_TRY(check_single(context, index + 1, "zero point"));
  return context.type(index + 1);
}

Result<AffineScale> affine_scale(const EvaluateContext& context, size_t index) {
  HET_ASSIGN(const std::vector<float> scale, scales(context, index));
  return AffineScale{scale.at(0), zero_points(context, index + 1, 1).at(0)};
}

std::vector<int32_t> centered_values(const Tensor& tensor,
                                     const std::vector<int64_t>& zero_points) {
  std::vector<int32_t> values(static_cast<size_t>(tensor.element_count()));
  if (values.empty()) return values;
  const size_t part = values.size() / zero_points.size();
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t stored = load_integer(tensor.bytes(), tensor.type(), static_cast<int64_t>(i));
    values[i] = static_cast<int32_t>(stored - zero_points[i / part]);
  }
  return values;
}

DynamicScale dynamic_scale(std::span<const float> x) {
  float lowest = 0;
  float highest = 0;
  for (const float value : x) {
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  }
  const float scale = lowest == highest ? 1.0f : (highest - lowest) / 255.0f;
  return {scale, saturate_quantized<uint8_t>(-lowest / scale, 0)};
}

void round_to_dynamic_scale(std::span<float> x) {
  const DynamicScale grid = dynamic_scale(x);
  const AffineScale real{grid.scale, grid.zero_point};
  for (float& value : x) {
    value = real.real(saturate_quantized<uint8_t>(value / grid.scale, grid.zero_point));
  }
}

}  // namespace het
