#include "inference/ops/products/gemm.h"

#include <array>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {

Result<GemmAttributes> gemm_attributes(const Node& node, const Shape& a, const Shape& b) {
  const Attributes& attributes = node.attributes();
  HET_TRY(check_attributes(attributes, {{"alpha", AttributeType::Float},
                                        {"beta", AttributeType::Float},
                                        {"transA", AttributeType::Int},
                                        {"transB", AttributeType::Int}}));
  if (a.size() != 2 || b.size() != 2) {
    return error(StatusCode::ShapeMismatch, "A has shape {} and B {}, but both must have rank 2",
                 to_string(a), to_string(b));
  }
  GemmAttributes gemm;
  gemm.alpha = attributes.get_float("alpha", 1.0f);
  gemm.beta = attributes.get_float("beta", 1.0f);
  gemm.trans_a = attributes.get_int("transA", 0) != 0;
  gemm.trans_b = attributes.get_int("transB", 0) != 0;
  gemm.m = a[gemm.trans_a ? 1 : 0];
  gemm.k = a[gemm.trans_a ? 0 : 1];
  gemm.n = b[gemm.trans_b ? 0 : 1];
  if (gemm.k != b[gemm.trans_b ? 1 : 0]) {
    return error(StatusCode::ShapeMismatch,
                 "A has shape {} (transA {}) and B {} (transB {}): the inner dimensions differ",
                 to_string(a), gemm.trans_a, to_string(b), gemm.trans_b);
  }
  HET_TRY(checked_element_count({gemm.m, gemm.n}));
  return gemm;
}

namespace {

constexpr TypeSet kGemmTypes = kFloatTypes | TypeSet{ElementType::Int32, ElementType::UInt32,
                                                     ElementType::Int64, ElementType::UInt64};

Status infer_gemm(InferContext& context) {
  HET_TRY(check_input(context, 0, "A", kGemmTypes));
  HET_TRY(check_same_type(context, 0, 1));
  HET_ASSIGN(const GemmAttributes gemm,
             gemm_attributes(context.node(), context.shape(0), context.shape(1)));
  const Shape output{gemm.m, gemm.n};
  if (context.has_input(2)) {
    HET_TRY(check_same_type(context, 0, 2));
    const auto joined = broadcast(context.shape(2), output);
    if (!joined || *joined != output) {
      return error(StatusCode::ShapeMismatch, "C has shape {}, which does not broadcast to {}",
                   to_string(context.shape(2)), to_string(output));
    }
  }
  context.set_output(0, context.type(0), output);
  return {};
}

/// Integers wrap around; the factors are applied in double, or not at all when they are 1.
template <class T, class Acc>
T scale_and_add(const GemmAttributes& gemm, Acc product, Acc c) {
  if constexpr (std::is_integral_v<T>) {
    if (gemm.alpha == 1.0f && gemm.beta == 1.0f) return static_cast<T>(product + c);
    const double scaled =
        static_cast<double>(gemm.alpha) * static_cast<double>(static_cast<T>(product));
    return numeric_cast<T>(scaled +
                           static_cast<double>(gemm.beta) * static_cast<double>(static_cast<T>(c)));
  } else {
    return numeric_cast<T>(static_cast<double>(gemm.alpha) * product +
                           static_cast<double>(gemm.beta) * c);
  }
}

/// Sums in double, integers in uint64_t. Order: m, n, k.
template <class T>
void gemm_loops(const GemmAttributes& gemm, const T* a, const T* b, std::span<const T> c, T* dst) {
  using Acc = std::conditional_t<std::is_integral_v<T>, uint64_t, double>;
  const int64_t a_row = gemm.trans_a ? 1 : gemm.k;
  const int64_t a_col = gemm.trans_a ? gemm.m : 1;
  const int64_t b_row = gemm.trans_b ? 1 : gemm.n;
  const int64_t b_col = gemm.trans_b ? gemm.k : 1;
  for (int64_t i = 0; i < gemm.m; ++i) {
    for (int64_t j = 0; j < gemm.n; ++j) {
      Acc sum = 0;
      for (int64_t k = 0; k < gemm.k; ++k) {
        sum +=
            static_cast<Acc>(a[i * a_row + k * a_col]) * static_cast<Acc>(b[k * b_row + j * b_col]);
      }
      const auto at = static_cast<size_t>(i * gemm.n + j);
      const Acc addend = c.empty() ? Acc(0) : static_cast<Acc>(c[at]);
      dst[at] = scale_and_add<T, Acc>(gemm, sum, addend);
    }
  }
}

Status evaluate_gemm(EvaluateContext& context) {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  HET_ASSIGN(const GemmAttributes gemm, gemm_attributes(context.node(), a.shape(), b.shape()));
  Tensor& y = context.output(0);
  return dispatch_numeric(a.type(), [&]<class T>() -> Status {
    std::vector<T> c;
    if (context.has_input(2)) {
      const BroadcastPlan plan = plan_broadcast(y.shape(), std::array{context.input(2).shape()});
      const T* src = context.input(2).data<T>();
      const int64_t step = plan.strides[0].back();
      for_each_row<1>(plan, [&](int64_t, const std::array<int64_t, 1>& start) {
        for (int64_t i = 0; i < plan.dims.back(); ++i) c.push_back(src[start[0] + i * step]);
      });
    }
    gemm_loops<T>(gemm, a.data<T>(), b.data<T>(), c, y.data<T>());
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_gemm(OpRegistry& registry) {
  registry.add({"Gemm", "", 13, 2, 3, infer_gemm, evaluate_gemm});
}

}  // namespace het
