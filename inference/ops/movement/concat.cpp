#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_concat(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int, true}}));
  HET_TRY(check_input(context, 0, "inputs", kWholeByteTypes));
  HET_ASSIGN(const int64_t axis,
             normalize_axis(context.attributes().get_int("axis", 0), context.rank(0)));
  Shape shape = context.shape(0);
  for (size_t i = 1; i < context.input_count(); ++i) {
    HET_TRY(check_input(context, i, "inputs", kWholeByteTypes));
    HET_TRY(check_same_type(context, 0, i));
    Shape other = context.shape(i);
    bool fits = other.size() == shape.size();
    for (size_t d = 0; fits && d < shape.size(); ++d) {
      if (static_cast<int64_t>(d) == axis) {
        fits = !__builtin_add_overflow(shape[d], other[d], &shape[d]);
      } else {
        fits = other[d] == shape[d];
      }
    }
    if (!fits) {
      return error(StatusCode::ShapeMismatch,
                   "inputs 0 and {} of shapes {} and {} cannot be joined along axis {}: all other "
                   "dimensions must agree",
                   i, to_string(context.shape(0)), to_string(other), axis);
    }
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_concat(EvaluateContext& context) {
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  HET_ASSIGN(const int64_t axis, normalize_axis(context.attributes().get_int("axis", 0), y.rank()));
  const std::span<const int64_t> dims = y.shape();
  const int64_t outer = element_count(dims.first(static_cast<size_t>(axis)));
  const auto row_bytes = y.size_bytes() / static_cast<size_t>(outer);
  std::byte* column = y.bytes();
  for (size_t i = 0; i < context.input_count(); ++i) {
    const Tensor& x = context.input(i);
    const size_t part = x.size_bytes() / static_cast<size_t>(outer);
    if (part == 0) continue;
    for (int64_t n = 0; n < outer; ++n) {
      std::memcpy(column + static_cast<size_t>(n) * row_bytes,
                  x.bytes() + static_cast<size_t>(n) * part, part);
    }
    column += part;
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_concat(OpRegistry& registry) {
  registry.add({"Concat", "", 13, 1, kVariadic, infer_concat, evaluate_concat});
}

}  // namespace het
