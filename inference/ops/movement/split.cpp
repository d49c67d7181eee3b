#include "inference/ops/movement/split.h"

#include <algorithm>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_split(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_TRY(check_attributes(context.attributes(),
                           {{"axis", AttributeType::Int}, {"num_outputs", AttributeType::Int}}));
  HET_ASSIGN(const int64_t axis,
             normalize_axis(context.attributes().get_int("axis", 0), context.rank(0)));
  const auto d = static_cast<size_t>(axis);
  const size_t parts = context.output_count();
  std::vector<int64_t> lengths(parts, kUnknownDim);
  if (context.has_input(1)) {
    HET_ASSIGN(const auto given, known_ints(context, 1, "split"));
    if (given) {
      HET_TRY(check_split(*given, context.shape(0)[d], parts));
      lengths = *given;
    }
  } else {
    const int64_t wanted = context.attributes().get_int("num_outputs", static_cast<int64_t>(parts));
    if (wanted != static_cast<int64_t>(parts)) {
      return error(StatusCode::InvalidArgument, "num_outputs is {}, but the node has {} outputs",
                   wanted, parts);
    }
    lengths = equal_split(context.shape(0)[d], parts);
  }
  for (size_t i = 0; i < parts; ++i) {
    Shape shape = context.shape(0);
    shape[d] = lengths[i];
    context.set_output(i, context.type(0), std::move(shape));
  }
  return {};
}

Status evaluate_split(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  if (x.element_count() == 0) return {};
  HET_ASSIGN(const int64_t axis, normalize_axis(context.attributes().get_int("axis", 0), x.rank()));
  const std::span<const int64_t> dims = x.shape();
  const auto outer = static_cast<size_t>(element_count(dims.first(static_cast<size_t>(axis))));
  const size_t row_bytes = x.size_bytes() / outer;
  const std::byte* column = x.bytes();
  for (size_t i = 0; i < context.output_count(); ++i) {
    Tensor& y = context.output(i);
    const size_t part = y.size_bytes() / outer;
    if (part == 0) continue;
    for (size_t n = 0; n < outer; ++n) {
      std::memcpy(y.bytes() + n * part, column + n * row_bytes, part);
    }
    column += part;
  }
  return {};
}

}  // namespace

std::vector<int64_t> equal_split(int64_t dimension, size_t parts) {
  const auto count = static_cast<int64_t>(parts);
  const int64_t length = dimension / count + (dimension % count != 0);
  std::vector<int64_t> lengths;
  for (size_t i = 0; i < parts; ++i) {
    lengths.push_back(std::min(length, dimension));
    dimension -= lengths.back();
  }
  return lengths;
}

Status check_split(const std::vector<int64_t>& lengths, int64_t dimension, size_t parts) {
  int64_t sum = 0;
  bool valid = lengths.size() == parts;
  for (const int64_t length : lengths) {
    valid = valid && length >= 0 && !__builtin_add_overflow(sum, length, &sum);
  }
  if (valid && sum == dimension) return {};
  return error(StatusCode::ShapeMismatch,
               "split {} does not cut a dimension of {} into {} parts, one per output",
               to_string(lengths), dimension, parts);
}

HET_REGISTRATION void register_split(OpRegistry& registry) {
  registry.add({"Split", "", 18, 1, 2, infer_split, evaluate_split});
}

}  // namespace het
