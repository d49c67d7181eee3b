#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

enum class SoftmaxKind { Softmax, LogSoftmax, Hardmax };

Result<AxisSplit> softmax_split(const Node& node, const Shape& x) {
  HET_TRY(check_attributes(node.attributes(), {{"axis", AttributeType::Int}}));
  return axis_split(x, node.attributes().get_int("axis", -1));
}

Status infer_softmax(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kFloatTypes));
  HET_TRY(softmax_split(context.node(), context.shape(0)));
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// 1 for the first of the largest, 0 for the others. NaN is larger than every number, as NumPy's
/// argmax has it.
void hardmax(std::vector<double>& row) {
  auto largest = std::ranges::find_if(row, [](double value) { return std::isnan(value); });
  if (largest == row.end()) largest = std::ranges::max_element(row);
  const auto index = largest - row.begin();
  std::fill(row.begin(), row.end(), 0.0);
  row[static_cast<size_t>(index)] = 1.0;
}

/// The largest element is subtracted first, so that exp() cannot overflow.
void softmax(bool logarithm, std::vector<double>& row) {
  const double peak = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double value : row) sum += std::exp(value - peak);
  for (double& value : row) {
    value = logarithm ? value - peak - std::log(sum) : std::exp(value - peak) / sum;
  }
}

/// Computed in double. Order: outer, inner, then along the axis.
template <SoftmaxKind kKind>
Status evaluate_softmax(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const AxisSplit split, softmax_split(context.node(), x.shape()));
  if (x.element_count() == 0) return {};
  std::vector<double> row(static_cast<size_t>(split.length));
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    const T* src = x.data<T>();
    T* dst = context.output(0).data<T>();
    for (int64_t outer = 0; outer < split.outer; ++outer) {
      for (int64_t inner = 0; inner < split.inner; ++inner) {
        const int64_t start = outer * split.length * split.inner + inner;
        for (size_t i = 0; i < row.size(); ++i) {
          row[i] = static_cast<double>(src[start + static_cast<int64_t>(i) * split.inner]);
        }
        if constexpr (kKind == SoftmaxKind::Hardmax) {
          hardmax(row);
        } else {
          softmax(kKind == SoftmaxKind::LogSoftmax, row);
        }
        for (size_t i = 0; i < row.size(); ++i) {
          dst[start + static_cast<int64_t>(i) * split.inner] = numeric_cast<T>(row[i]);
        }
      }
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_softmax(OpRegistry& registry) {
  registry.add({"Softmax", "", 13, 1, 1, infer_softmax, evaluate_softmax<SoftmaxKind::Softmax>});
  registry.add(
      {"LogSoftmax", "", 13, 1, 1, infer_softmax, evaluate_softmax<SoftmaxKind::LogSoftmax>});
  registry.add({"Hardmax", "", 13, 1, 1, infer_softmax, evaluate_softmax<SoftmaxKind::Hardmax>});
}

}  // namespace het
