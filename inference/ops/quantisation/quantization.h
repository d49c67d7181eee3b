#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/ops/op.h"
#include "inference/ops/op_checks.h"
#include "inference/tensors/element_type.h"
#include "inference/tensors/shape.h"

namespace het {

inline constexpr TypeSet kByteTypes{ElementType::Int8, ElementType::UInt8};

/// Which scale belongs to which element: one scale for the tensor, one for each index of an axis,
/// or one for each block of neighbours along an axis.
struct QuantizationGrid {
  int64_t length = 1;      ///< of the axis
  int64_t inner = 1;       ///< elements after the axis
  int64_t block = 1;       ///< neighbours along the axis that share a scale
  int64_t outer_step = 0;  ///< steps through the scales: per index before the axis,
  int64_t block_step = 0;  ///< per block along it,
  int64_t inner_step = 0;  ///< and per index after it

  bool per_tensor() const { return outer_step == 0 && block_step == 0 && inner_step == 0; }
  /// Index of the scale of element `i` of the dense tensor.
  int64_t scale_index(int64_t i) const {
    return i / inner / length * outer_step + i / inner % length / block * block_step +
           i % inner * inner_step;
  }
};

/// For QuantizeLinear and DequantizeLinear: `x` and `scale` are static shapes. A scale of one
/// element is for the whole tensor, one of rank 1 for the indices of the attribute `axis`, and with
/// the attribute `block_size` one of x's rank for blocks. Fails when the shapes do not fit.
Result<QuantizationGrid> quantization_grid(const Node& node, const Shape& x, const Shape& scale);

/// Content of the zero point `index`, an integer of any type of up to 32 bits; `count` zeros when
/// the input is omitted.
std::vector<int64_t> zero_points(const EvaluateContext& context, size_t index, int64_t count);

/// Content of a scale of any float type.
Result<std::vector<float>> scales(const EvaluateContext& context, size_t index);

/// Checks the inputs index (int8 or uint8), index + 1 (scale) and index + 2 (zero point of the
/// input's type, may be omitted), one scale for the tensor; `name` is ONNX' name of the first.
Status check_quantized_input(const InferContext& context, size_t index, std::string_view name);
/// Checks the inputs index (scale) and index + 1 (zero point) of an output, one for the tensor, and
/// returns the output's type: the zero point's, or `fallback` when that is omitted.
Result<ElementType> quantized_output_type(const InferContext& context, size_t index,
                                          ElementType fallback);

/// Real value = (stored value - zero_point) * scale.
struct AffineScale {
  float scale = 1;
  int64_t zero_point = 0;

  float real(int64_t stored) const { return static_cast<float>(stored - zero_point) * scale; }
};

/// Content of the inputs index (scale) and index + 1 (zero point), one for the tensor.
Result<AffineScale> affine_scale(const EvaluateContext& context, size_t index);

/// Elements of a dense integer tensor minus their zero points: one for all, or `zero_points.size()`
/// neighbouring parts with one each.
std::vector<int32_t> centered_values(const Tensor& tensor, const std::vector<int64_t>& zero_points);

/// round(value) + zero_point, halves to even, limited to [lowest, highest]; NaN counts as 0.
inline int64_t saturate_quantized(float value, int64_t zero_point, int64_t lowest,
                                  int64_t highest) {
  // Beyond this bound of all types' ranges only their ends are left.
  constexpr float kBound = 1e12f;
  if (std::isnan(value)) value = 0;
  const float bounded = value > kBound ? kBound : value < -kBound ? -kBound : value;
  const int64_t sum = static_cast<int64_t>(std::nearbyint(bounded)) + zero_point;
  return sum < lowest ? lowest : sum > highest ? highest : sum;
}

template <class T>
T saturate_quantized(float value, int64_t zero_point) {
  return static_cast<T>(saturate_quantized(value, zero_point, std::numeric_limits<T>::min(),
                                           std::numeric_limits<T>::max()));
}

/// What DynamicQuantizeLinear maps [min(x, 0), max(x, 0)] onto 0 to 255 with.
struct DynamicScale {
  float scale = 1;  ///< 1 where x has only zeros
  uint8_t zero_point = 0;
};
DynamicScale dynamic_scale(std::span<const float> x);

/// x as the 8-bit numbers of its dynamic_scale() and back.
void round_to_dynamic_scale(std::span<float> x);

}  // namespace het
