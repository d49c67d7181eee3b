#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/products/matmul.h"
#include "inference/ops/products/matmul_loops.h"
#include "inference/ops/quantisation/quantization.h"

namespace het {
namespace {

/// Scales or zero points of one side of a product: one for the tensor, one for each row of A (or
/// column of B), or one for each row (column) of each matrix.
struct LineIndex {
  int64_t count = 1;  ///< of values
  int64_t lines = 1;  ///< rows of one A, columns of one B
  /// Position for a row (column) that is counted through all matrices.
  size_t operator()(int64_t line) const {
    if (count == 1) return 0;
    return static_cast<size_t>(count == lines ? line % lines : line);
  }
};

/// `line_dim` counts from the end of the tensor's shape: 2 for rows, 1 for columns. A rank-1 tensor
/// is one row (column).
Result<LineIndex> line_index(const Shape& tensor, const Shape& values, size_t line_dim) {
  if (tensor.empty()) {
    return error(StatusCode::ShapeMismatch, "scalars have no product");
  }
  LineIndex index;
  index.count = element_count(values);
  index.lines = tensor.size() < 2 ? 1 : tensor[tensor.size() - line_dim];
  Shape per_matrix = tensor;
  per_matrix[tensor.size() < 2 ? 0 : tensor.size() - 3 + line_dim] = 1;
  const bool fits = index.count == 1 || values == Shape{index.lines} || values == per_matrix;
  if (!fits) {
    return error(StatusCode::ShapeMismatch,
                 "scales or zero points of shape {} do not fit a tensor of shape {}: they must be "
                 "one value, [{}] or {}",
                 to_string(values), to_string(tensor), index.lines, to_string(per_matrix));
  }
  return index;
}

Status check_lines(const InferContext& context, size_t tensor, size_t values, size_t line_dim) {
  if (!context.has_input(values)) return {};
  HET_TRY(line_index(context.shape(tensor), context.shape(values), line_dim));
  return {};
}

Status infer_matmul_integer(InferContext& context) {
  HET_TRY(check_input(context, 0, "A", kByteTypes));
  HET_TRY(check_input(context, 1, "B", kByteTypes));
  for (const size_t i : {size_t{2}, size_t{3}}) {
    if (!context.has_input(i)) continue;
    HET_TRY(check_same_type(context, i - 2, i));
    HET_TRY(check_lines(context, i - 2, i, i == 2 ? 2 : 1));
  }
  HET_ASSIGN(MatMulDims dims, matmul_dims(context.shape(0), context.shape(1)));
  context.set_output(0, ElementType::Int32, std::move(dims.output_shape));
  return {};
}

/// Sums (a - zero point) * (b - zero point); sums wrap around in 32 bits.
template <class Store>
Status sum_matrix_products(EvaluateContext& context, size_t b_input, size_t a_zero_point,
                           size_t b_zero_point, const Store& store) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(b_input);
  HET_ASSIGN(const MatMulDims dims, matmul_dims(a.shape(), b.shape()));
  const auto values_shape = [&](size_t index) {
    return context.has_input(index) ? context.input(index).shape() : Shape{};
  };
  HET_ASSIGN(const LineIndex a_line, line_index(a.shape(), values_shape(a_zero_point), 2));
  HET_ASSIGN(const LineIndex b_line, line_index(b.shape(), values_shape(b_zero_point), 1));
  const std::vector<int64_t> a_zero = zero_points(context, a_zero_point, 1);
  const std::vector<int64_t> b_zero = zero_points(context, b_zero_point, 1);
  const std::vector<int32_t> a_values = centered_values(a, {0});
  const std::vector<int32_t> b_values = centered_values(b, {0});
  multiply_matrices<uint32_t>(
      dims,
      [&](int64_t i, int64_t row) {
        return static_cast<uint32_t>(a_values[static_cast<size_t>(i)] - a_zero[a_line(row)]);
      },
      [&](int64_t i, int64_t column) {
        return static_cast<uint32_t>(b_values[static_cast<size_t>(i)] - b_zero[b_line(column)]);
      },
      store);
  return {};
}

Status evaluate_matmul_integer(EvaluateContext& context) {
  int32_t* dst = context.output(0).data<int32_t>();
  return sum_matrix_products(context, 1, 2, 3, [&](int64_t i, int64_t, int64_t, uint32_t sum) {
    dst[i] = static_cast<int32_t>(sum);
  });
}

Status infer_qlinear_matmul(InferContext& context) {
  HET_TRY(check_input(context, 0, "a", kByteTypes));
  HET_TRY(check_input(context, 1, "a_scale", kFloatTypes));
  HET_TRY(check_same_type(context, 0, 2));
  HET_TRY(check_input(context, 3, "b", kByteTypes));
  HET_TRY(check_input(context, 4, "b_scale", kFloatTypes));
  HET_TRY(check_same_type(context, 3, 5));
  for (const size_t i : {size_t{1}, size_t{2}}) HET_TRY(check_lines(context, 0, i, 2));
  for (const size_t i : {size_t{4}, size_t{5}}) HET_TRY(check_lines(context, 3, i, 1));
  HET_ASSIGN(const ElementType type, quantized_output_type(context, 6, context.type(0)));
  HET_ASSIGN(MatMulDims dims, matmul_dims(context.shape(0), context.shape(3)));
  context.set_output(0, type, std::move(dims.output_shape));
  return {};
}

/// Exact sums in 32 bits, then round(sum * (a_scale * b_scale / y_scale)) in float.
Status evaluate_qlinear_matmul(EvaluateContext& context) {
  HET_ASSIGN(const std::vector<float> a_scale, scales(context, 1));
  HET_ASSIGN(const std::vector<float> b_scale, scales(context, 4));
  HET_ASSIGN(const AffineScale y_scale, affine_scale(context, 6));
  HET_ASSIGN(const LineIndex a_line,
             line_index(context.input(0).shape(), context.input(1).shape(), 2));
  HET_ASSIGN(const LineIndex b_line,
             line_index(context.input(3).shape(), context.input(4).shape(), 1));
  Tensor& y = context.output(0);
  const IntegerRange range = integer_range(y.type());
  return sum_matrix_products(
      context, 3, 2, 5, [&](int64_t i, int64_t row, int64_t column, uint32_t sum) {
        const float scale = a_scale[a_line(row)] * b_scale[b_line(column)] / y_scale.scale;
        const float value = static_cast<float>(static_cast<int32_t>(sum)) * scale;
        store_integer(y.bytes(), y.type(), i,
                      saturate_quantized(value, y_scale.zero_point, range.lowest, range.highest));
      });
}

}  // namespace

HET_REGISTRATION void register_matmul_integer(OpRegistry& registry) {
  registry.add({"MatMulInteger", "", 10, 2, 4, infer_matmul_integer, evaluate_matmul_integer});
  registry.add({"QLinearMatMul", "", 21, 8, 8, infer_qlinear_matmul, evaluate_qlinear_matmul});
}

}  // namespace het
