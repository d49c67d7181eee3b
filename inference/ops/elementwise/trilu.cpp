#include <algorithm>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_trilu(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_TRY(check_rank(context, 0, "input", 2, kAnyRank));
  HET_TRY(check_attributes(context.attributes(), {{"upper", AttributeType::Int}}));
  if (context.has_input(1)) {
    HET_TRY(check_input(context, 1, "k", TypeSet{ElementType::Int64}));
    HET_ASSIGN(const int64_t count, checked_element_count(context.shape(1)));
    if (count != 1) {
      return error(StatusCode::ShapeMismatch, "k has shape {}, but must be one number",
                   to_string(context.shape(1)));
    }
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// Row by row: upper keeps the columns from row + k on, lower those up to row + k.
Status evaluate_trilu(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  const bool upper = context.attributes().get_int("upper", 1) != 0;
  const int64_t rows = x.shape()[x.shape().size() - 2];
  const int64_t columns = x.shape().back();
  int64_t k = context.has_input(1) ? context.input(1).data<int64_t>()[0] : 0;
  k = std::clamp(k, -rows - 1, columns + 1);  // further diagonals change nothing
  const auto width = static_cast<int64_t>(byte_width(x.type()));
  const int64_t all_rows = x.element_count() / columns;
  for (int64_t row = 0; row < all_rows; ++row) {
    const int64_t diagonal = row % rows + k;
    const int64_t first = upper ? std::clamp<int64_t>(diagonal, 0, columns) : 0;
    const int64_t end = upper ? columns : std::clamp<int64_t>(diagonal + 1, 0, columns);
    std::byte* dst = y.bytes() + row * columns * width;
    std::memset(dst, 0, static_cast<size_t>(columns * width));
    std::memcpy(dst + first * width, x.bytes() + (row * columns + first) * width,
                static_cast<size_t>((end - first) * width));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_trilu(OpRegistry& registry) {
  registry.add({"Trilu", "", 14, 1, 2, infer_trilu, evaluate_trilu});
}

}  // namespace het
