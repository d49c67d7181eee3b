#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_tile(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_ASSIGN(const auto repeats, known_ints(context, 1, "repeats"));
  if (!repeats) {
    context.set_output(0, context.type(0), unknown_shape(context.rank(0)));
    return {};
  }
  Shape shape = context.shape(0);
  bool valid = repeats->size() == shape.size();
  for (size_t d = 0; valid && d < shape.size(); ++d) {
    valid = (*repeats)[d] >= 0 && !__builtin_mul_overflow(shape[d], (*repeats)[d], &shape[d]);
  }
  if (!valid) {
    return error(StatusCode::InvalidArgument,
                 "repeats {} must have one entry >= 0 per dimension of shape {}",
                 to_string(*repeats), to_string(context.shape(0)));
  }
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

/// Every dimension of the output is seen as (repeat, dimension of the input), where a step of
/// repeat stays at the same place of the input.
Status evaluate_tile(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  const std::vector<int64_t> strides = row_major_strides(x.shape());
  Shape dims;
  std::vector<int64_t> src_strides;
  for (size_t d = 0; d < strides.size(); ++d) {
    dims.push_back(y.shape()[d] / x.shape()[d]);
    src_strides.push_back(0);
    dims.push_back(x.shape()[d]);
    src_strides.push_back(strides[d]);
  }
  strided_copy(dims, byte_width(x.type()), x.bytes(), src_strides, y.bytes(),
               row_major_strides(dims));
  return {};
}

}  // namespace

HET_REGISTRATION void register_tile(OpRegistry& registry) {
  registry.add({"Tile", "", 13, 2, 2, infer_tile, evaluate_tile});
}

}  // namespace het
