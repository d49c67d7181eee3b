#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/movement/gather_index.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_gather_elements(InferContext& context) {
  HET_ASSIGN(const int64_t axis, check_gather(context));
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  bool fits = data.size() == indices.size();
  for (size_t d = 0; fits && d < data.size(); ++d) {
    fits = static_cast<int64_t>(d) == axis || indices[d] <= data[d];
  }
  if (!fits) {
    return error(StatusCode::ShapeMismatch,
                 "indices of shape {} do not lie inside data of shape {} beside axis {}",
                 to_string(indices), to_string(data), axis);
  }
  context.set_output(0, context.type(0), indices);
  return {};
}

Status evaluate_gather_elements(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const int64_t axis, normalize_axis(context.attributes().get_int("axis", 0), x.rank()));
  const auto axis_index = static_cast<size_t>(axis);
  HET_ASSIGN(const std::vector<int64_t> indices,
             read_indices(context.input(1), x.shape()[axis_index]));
  const std::vector<int64_t> strides = row_major_strides(x.shape());
  const size_t width = byte_width(x.type());
  std::vector<int64_t> position(y.shape().size());
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t offset = indices[i] * strides[axis_index];
    for (size_t d = 0; d < position.size(); ++d) {
      if (d != axis_index) offset += position[d] * strides[d];
    }
    std::memcpy(y.bytes() + i * width, x.bytes() + static_cast<size_t>(offset) * width, width);
    for (size_t d = position.size(); d-- > 0;) {
      if (++position[d] < y.shape()[d]) break;
      position[d] = 0;
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_gather_elements(OpRegistry& registry) {
  registry.add({"GatherElements", "", 13, 2, 2, infer_gather_elements, evaluate_gather_elements});
}

}  // namespace het
