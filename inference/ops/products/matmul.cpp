#include "inference/ops/products/matmul.h"

#include <array>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/products/matmul_loops.h"
#include "inference/ops/type_dispatch.h"

namespace het {

Result<MatMulDims> matmul_dims(const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) {
    return error(StatusCode::ShapeMismatch, "A has shape {} and B {}, but scalars have no product",
                 to_string(a), to_string(b));
  }
  MatMulDims dims;
  const bool a_is_row = a.size() == 1;
  const bool b_is_column = b.size() == 1;
  dims.k = a.back();
  const int64_t b_k = b_is_column ? b[0] : b[b.size() - 2];
  if (dims.k != b_k) {
    return error(StatusCode::ShapeMismatch, "A has shape {} and B {}: the inner dimensions differ",
                 to_string(a), to_string(b));
  }
  if (!a_is_row) {
    dims.m = a[a.size() - 2];
    dims.a_batch.assign(a.begin(), a.end() - 2);
  }
  if (!b_is_column) {
    dims.n = b.back();
    dims.b_batch.assign(b.begin(), b.end() - 2);
  }
  HET_ASSIGN(dims.batch, broadcast(dims.a_batch, dims.b_batch));
  dims.a_batch.insert(dims.a_batch.begin(), dims.batch.size() - dims.a_batch.size(), 1);
  dims.b_batch.insert(dims.b_batch.begin(), dims.batch.size() - dims.b_batch.size(), 1);
  dims.output_shape = dims.batch;
  if (!a_is_row) dims.output_shape.push_back(dims.m);
  if (!b_is_column) dims.output_shape.push_back(dims.n);
  HET_TRY(checked_element_count(dims.output_shape));
  return dims;
}

std::vector<MatrixPair> matrix_pairs(const MatMulDims& dims) {
  std::vector<MatrixPair> pairs;
  const BroadcastPlan plan = plan_broadcast(dims.batch, std::array{dims.a_batch, dims.b_batch});
  const int64_t a_step = plan.strides[0].back();
  const int64_t b_step = plan.strides[1].back();
  for_each_row<2>(plan, [&](int64_t, const std::array<int64_t, 2>& start) {
    for (int64_t i = 0; i < plan.dims.back(); ++i) {
      pairs.push_back({start[0] + i * a_step, start[1] + i * b_step});
    }
  });
  return pairs;
}

namespace {

constexpr TypeSet kMatMulTypes = kFloatTypes | TypeSet{ElementType::Int32, ElementType::UInt32,
                                                       ElementType::Int64, ElementType::UInt64};

Status infer_matmul(InferContext& context) {
  HET_TRY(check_input(context, 0, "A", kMatMulTypes));
  HET_TRY(check_same_type(context, 0, 1));
  HET_ASSIGN(MatMulDims dims, matmul_dims(context.shape(0), context.shape(1)));
  context.set_output(0, context.type(0), std::move(dims.output_shape));
  return {};
}

/// Sums in double; integers wrap around.
Status evaluate_matmul(EvaluateContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  HET_ASSIGN(const MatMulDims dims, matmul_dims(a.shape(), b.shape()));
  return dispatch_numeric(a.type(), [&]<class T>() -> Status {
    using Acc = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
    const T* a_values = a.data<T>();
    const T* b_values = b.data<T>();
    T* dst = context.output(0).data<T>();
    multiply_matrices<Acc>(
        dims, [&](int64_t i, int64_t) { return static_cast<Acc>(a_values[i]); },
        [&](int64_t i, int64_t) { return static_cast<Acc>(b_values[i]); },
        [&](int64_t i, int64_t, int64_t, Acc sum) { dst[i] = numeric_cast<T>(sum); });
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_matmul(OpRegistry& registry) {
  registry.add({"MatMul", "", 13, 2, 2, infer_matmul, evaluate_matmul});
}

}  // namespace het
