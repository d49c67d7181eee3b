#include <algorithm>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// Positions that the condition keeps; it may be shorter than the dimension, not longer.
std::vector<int64_t> kept_positions(const Tensor& condition) {
  const std::span<const bool> values = condition.values<bool>();
  std::vector<int64_t> kept;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i]) kept.push_back(static_cast<int64_t>(i));
  }
  return kept;
}

Status infer_compress(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_TRY(check_input(context, 1, "condition", kBoolOnly));
  HET_TRY(check_rank(context, 1, "condition", 1, 1));
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int}}));
  Shape shape = context.shape(0);
  int64_t axis = 0;
  if (context.attributes().has("axis")) {
    HET_ASSIGN(axis, normalize_axis(context.attributes().get_int("axis", 0), context.rank(0)));
  } else {
    HET_ASSIGN(const int64_t count, checked_element_count(shape));
    shape = {count};
  }
  int64_t& dim = shape[static_cast<size_t>(axis)];
  if (const Tensor* condition = context.constant(1)) {
    const std::vector<int64_t> kept = kept_positions(*condition);
    if (!kept.empty() && kept.back() >= dim) {
      return error(StatusCode::InvalidArgument,
                   "condition keeps position {} of a dimension of length {}", kept.back(), dim);
    }
    dim = static_cast<int64_t>(kept.size());
  } else {
    dim = kUnknownDim;
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_compress(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  Shape shape{x.element_count()};
  int64_t axis = 0;
  if (context.attributes().has("axis")) {
    shape = x.shape();
    HET_ASSIGN(axis, normalize_axis(context.attributes().get_int("axis", 0), x.rank()));
  }
  const std::span<const int64_t> dims = shape;
  const auto d = static_cast<size_t>(axis);
  const int64_t outer = element_count(dims.first(d));
  const size_t slice =
      static_cast<size_t>(element_count(dims.subspan(d + 1))) * byte_width(x.type());
  const std::vector<int64_t> kept = kept_positions(context.input(1));
  std::byte* dst = y.bytes();
  for (int64_t n = 0; n < outer; ++n) {
    for (const int64_t position : kept) {
      std::memcpy(dst, x.bytes() + static_cast<size_t>(n * dims[d] + position) * slice, slice);
      dst += slice;
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_compress(OpRegistry& registry) {
  registry.add({"Compress", "", 28, 2, 2, infer_compress, evaluate_compress});
}

}  // namespace het
