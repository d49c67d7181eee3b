#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Result<int64_t> sequence_axis(const Attributes& attributes, int64_t rank) {
  HET_TRY(check_attributes(attributes,
                           {{"axis", AttributeType::Int}, {"mode", AttributeType::String}}));
  HET_ASSIGN(const int64_t axis, normalize_axis(attributes.get_int("axis", -2), rank));
  if (axis == 0) return error(StatusCode::InvalidArgument, "axis 0 is the batch dimension");
  return axis;
}

Status infer_tensor_scatter(InferContext& context) {
  HET_TRY(check_input(context, 0, "past_cache", kWholeByteTypes));
  HET_TRY(check_input(context, 1, "update", kWholeByteTypes));
  HET_TRY(check_same_type(context, 0, 1));
  HET_TRY(check_optional_input(context, 2, "write_indices", kIndexTypes));
  HET_ASSIGN(const int64_t axis, sequence_axis(context.attributes(), context.rank(0)));
  const std::string mode = context.attributes().get_string("mode", "linear");
  if (mode != "linear" && mode != "circular") {
    return error(StatusCode::InvalidArgument, "mode is '{}', but must be linear or circular", mode);
  }
  const auto d = static_cast<size_t>(axis);
  const Shape& cache = context.shape(0);
  Shape expected = context.shape(1);
  if (expected.size() == cache.size() && expected[d] <= cache[d]) expected[d] = cache[d];
  if (expected != cache || (context.has_input(2) && context.shape(2) != Shape{cache[0]})) {
    return error(StatusCode::ShapeMismatch,
                 "update of shape {} and its write_indices do not fit a cache of shape {} with the "
                 "sequence in dimension {}",
                 to_string(context.shape(1)), to_string(cache), axis);
  }
  context.set_output(0, context.type(0), cache);
  return {};
}

Status evaluate_tensor_scatter(EvaluateContext& context) {
  const Tensor& cache = context.input(0);
  const Tensor& update = context.input(1);
  Tensor& y = context.output(0);
  copy_elements(cache, y);
  HET_ASSIGN(const int64_t axis, sequence_axis(context.attributes(), cache.rank()));
  const auto d = static_cast<size_t>(axis);
  const int64_t length = cache.shape()[d];
  const int64_t count = update.shape()[d];
  const bool circular = context.attributes().get_string("mode", "linear") == "circular";
  std::vector<int64_t> starts(static_cast<size_t>(cache.shape()[0]));
  if (context.has_input(2)) {
    HET_ASSIGN(starts, to_int64_vector(context.input(2)));
  }
  for (int64_t& start : starts) {
    if (start < 0 || (!circular && start > length - count)) {
      return error(StatusCode::InvalidArgument,
                   "{} steps written from {} on do not lie inside a sequence of {}", count, start,
                   length);
    }
    if (circular && length > 0) start %= length;
  }
  if (update.element_count() == 0) return {};
  const std::span<const int64_t> dims = cache.shape();
  const int64_t outer = element_count(dims.first(d));
  const int64_t per_batch = outer / dims[0];
  const size_t step =
      static_cast<size_t>(element_count(dims.subspan(d + 1))) * byte_width(cache.type());
  const std::byte* src = update.bytes();
  for (int64_t n = 0; n < outer; ++n) {
    const int64_t start = starts[static_cast<size_t>(n / per_batch)];
    for (int64_t i = 0; i < count; ++i) {
      const auto row = static_cast<size_t>(n * length + (start + i) % length);
      std::memcpy(y.bytes() + row * step, src, step);
      src += step;
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_tensor_scatter(OpRegistry& registry) {
  registry.add({"TensorScatter", "", 24, 2, 3, infer_tensor_scatter, evaluate_tensor_scatter});
}

}  // namespace het
