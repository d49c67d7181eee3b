#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_unsqueeze(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kAllTypes));
  HET_ASSIGN(const auto axes, known_ints(context, 1, "axes"));
  const int64_t added = context.rank(1) == 0 ? 1 : context.shape(1)[0];
  constexpr int64_t kMostAxes = 64;
  if (added > kMostAxes) {
    return error(StatusCode::InvalidArgument, "{} axes to insert, at most {} are supported", added,
                 kMostAxes);
  }
  const int64_t rank = context.rank(0) + added;
  if (!axes) {
    context.set_output(0, context.type(0), unknown_shape(rank));
    return {};
  }
  HET_ASSIGN(const std::vector<int64_t> inserted, normalize_axes(*axes, rank));
  Shape shape;
  auto next = context.shape(0).begin();
  for (int64_t d = 0; d < rank; ++d) {
    const bool is_new = std::find(inserted.begin(), inserted.end(), d) != inserted.end();
    shape.push_back(is_new ? 1 : *next++);
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_unsqueeze(EvaluateContext& context) {
  copy_elements(context.input(0), context.output(0));
  return {};
}

}  // namespace

HET_REGISTRATION void register_unsqueeze(OpRegistry& registry) {
  registry.add({"Unsqueeze", "", 25, 2, 2, infer_unsqueeze, evaluate_unsqueeze});
}

}  // namespace het
