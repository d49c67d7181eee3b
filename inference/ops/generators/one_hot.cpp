#include <algorithm>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"

namespace het {
namespace {

/// Elements of a numeric tensor as int64, floats truncated.
Result<std::vector<int64_t>> truncated_values(const Tensor& tensor) {
  return dispatch_numeric(tensor.type(), [&]<class T>() -> Result<std::vector<int64_t>> {
    const std::span<const T> values = tensor.values<T>();
    std::vector<int64_t> result(values.size());
    std::transform(values.begin(), values.end(), result.begin(),
                   [](T value) { return numeric_cast<int64_t>(value); });
    return result;
  });
}

Result<int64_t> one_hot_axis(const Attributes& attributes, int64_t rank) {
  HET_TRY(check_attributes(attributes, {{"axis", AttributeType::Int}}));
  return normalize_axis(attributes.get_int("axis", -1), rank + 1);
}

Status infer_one_hot(InferContext& context) {
  HET_TRY(check_input(context, 0, "indices", kNumbers));
  HET_TRY(check_input(context, 1, "depth", kNumbers));
  HET_TRY(check_input(context, 2, "values", kWholeByteTypes));
  if (context.rank(1) > 1 || element_count(context.shape(1)) != 1 || context.shape(2) != Shape{2}) {
    return error(StatusCode::ShapeMismatch,
                 "depth of shape {} must be one number, values of shape {} two",
                 to_string(context.shape(1)), to_string(context.shape(2)));
  }
  HET_ASSIGN(const int64_t axis, one_hot_axis(context.attributes(), context.rank(0)));
  int64_t depth = kUnknownDim;
  if (const Tensor* content = context.constant(1)) {
    HET_ASSIGN(const std::vector<int64_t> values, truncated_values(*content));
    depth = values[0];
    if (depth < 0) return error(StatusCode::InvalidArgument, "depth is {}", depth);
  }
  Shape shape = context.shape(0);
  shape.insert(shape.begin() + axis, depth);
  context.set_output(0, context.type(2), std::move(shape));
  return {};
}

Status evaluate_one_hot(EvaluateContext& context) {
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  HET_ASSIGN(const std::vector<int64_t> indices, truncated_values(context.input(0)));
  HET_ASSIGN(const int64_t axis, one_hot_axis(context.attributes(), context.input(0).rank()));
  const std::span<const int64_t> dims = y.shape();
  const int64_t depth = dims[static_cast<size_t>(axis)];
  const int64_t inner = element_count(dims.subspan(static_cast<size_t>(axis) + 1));
  return dispatch_width(y.type(), [&]<class T>() -> Status {
    const auto* values = reinterpret_cast<const T*>(context.input(2).bytes());
    auto* dst = reinterpret_cast<T*>(y.bytes());
    std::fill(dst, dst + y.element_count(), values[0]);
    for (int64_t i = 0; i < static_cast<int64_t>(indices.size()); ++i) {
      int64_t hot = indices[static_cast<size_t>(i)];
      if (hot < -depth || hot >= depth) continue;
      if (hot < 0) hot += depth;
      dst[(i / inner * depth + hot) * inner + i % inner] = values[1];
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_one_hot(OpRegistry& registry) {
  registry.add({"OneHot", "", 28, 3, 3, infer_one_hot, evaluate_one_hot});
}

}  // namespace het
