#include "inference/ops/windows/max_unpool.h"

#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"
#include "inference/ops/windows/window.h"

namespace het {

Result<Shape> unpooled_shape(const Node& node, const Shape& x) {
  const Attributes& attributes = node.attributes();
  HET_TRY(check_attributes(attributes, {{"kernel_shape", AttributeType::Ints, true},
                                        {"pads", AttributeType::Ints},
                                        {"strides", AttributeType::Ints}}));
  const size_t rank = x.size() - 2;
  HET_ASSIGN(const auto kernel, window_list(attributes, "kernel_shape", rank, 1, 1));
  HET_ASSIGN(const auto strides, window_list(attributes, "strides", rank, 1, 1));
  HET_ASSIGN(const auto pads, window_list(attributes, "pads", 2 * rank, 0, 0));
  Shape shape{x[0], x[1]};
  for (size_t i = 0; i < rank; ++i) {
    if (x[i + 2] > kMaxWindowValue) {
      return error(StatusCode::ShapeMismatch, "X of shape {} is too large", to_string(x));
    }
    const int64_t size = (x[i + 2] - 1) * strides[i] + kernel[i] - pads[i] - pads[rank + i];
    if (size < 0) {
      return error(StatusCode::ShapeMismatch,
                   "pads {} leave nothing of spatial dimension {} of X of shape {}",
                   to_string(pads), i, to_string(x));
    }
    shape.push_back(size);
  }
  HET_TRY(checked_element_count(shape));
  return shape;
}

namespace {

Result<Shape> output_shape(const Shape& indexed, const Tensor& wanted) {
  HET_ASSIGN(Shape shape, to_int64_vector(wanted));
  bool fits = shape.size() == indexed.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = shape[i] >= indexed[i];
  if (!fits) {
    return error(StatusCode::ShapeMismatch, "output_shape is {}, but must hold {}",
                 to_string(shape), to_string(indexed));
  }
  HET_TRY(checked_element_count(shape));
  return shape;
}

Status infer_max_unpool(InferContext& context) {
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_rank(context, 0, "X", 3, kAnyRank));
  HET_TRY(check_input(context, 1, "I", {ElementType::Int64}));
  HET_TRY(check_optional_input(context, 2, "output_shape", {ElementType::Int64}));
  if (context.shape(1) != context.shape(0)) {
    return error(StatusCode::ShapeMismatch, "I has shape {}, but X has {}",
                 to_string(context.shape(1)), to_string(context.shape(0)));
  }
  HET_ASSIGN(Shape shape, unpooled_shape(context.node(), context.shape(0)));
  if (context.has_input(2)) {
    const Tensor* wanted = context.constant(2);
    if (wanted == nullptr) {
      shape.assign(shape.size(), kUnknownDim);
    } else {
      HET_ASSIGN(shape, output_shape(shape, *wanted));
    }
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Element `i` of a dense array of shape `from`, at the same coordinates of a larger shape.
int64_t moved_index(int64_t i, const Shape& from, const Shape& to) {
  int64_t result = 0;
  int64_t step = 1;
  for (size_t d = from.size(); d > 0; --d) {
    result += i % from[d - 1] * step;
    i /= from[d - 1];
    step *= to[d - 1];
  }
  return result;
}

/// Every value goes where its index says; the rest is 0. A larger output_shape adds to the ends.
Status evaluate_max_unpool(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  HET_ASSIGN(const Shape indexed, unpooled_shape(context.node(), x.shape()));
  HET_ASSIGN(const int64_t count, checked_element_count(indexed));
  const int64_t* indices = context.input(1).data<int64_t>();
  Tensor& y = context.output(0);
  std::fill_n(y.bytes(), y.size_bytes(), std::byte{0});
  return dispatch_float(x.type(), [&]<class T>() -> Status {
    for (int64_t i = 0; i < x.element_count(); ++i) {
      if (indices[i] < 0 || indices[i] >= count) {
        return error(StatusCode::InvalidArgument, "index {} is outside the {} elements of {}",
                     indices[i], count, to_string(indexed));
      }
      y.data<T>()[moved_index(indices[i], indexed, y.shape())] = x.data<T>()[i];
    }
    return {};
  });
}

}  // namespace

HET_REGISTRATION void register_max_unpool(OpRegistry& registry) {
  registry.add({"MaxUnpool", "", 22, 2, 3, infer_max_unpool, evaluate_max_unpool});
}

}  // namespace het
