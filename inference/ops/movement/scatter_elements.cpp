#include "inference/base/registration.h"
#include "inference/ops/movement/gather_index.h"
#include "inference/ops/movement/scatter_reduction.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_scatter_elements(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kWholeByteTypes));
  HET_TRY(check_input(context, 1, "indices", kIndexTypes));
  HET_TRY(check_input(context, 2, "updates", kWholeByteTypes));
  HET_TRY(check_same_type(context, 0, 2));
  HET_TRY(check_attributes(context.attributes(), {{"axis", AttributeType::Int}}));
  HET_TRY(scatter_reduction(context.attributes(), context.type(0)));
  HET_ASSIGN(const int64_t axis,
             normalize_axis(context.attributes().get_int("axis", 0), context.rank(0)));
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  bool fits = data.size() == indices.size() && indices == context.shape(2);
  for (size_t d = 0; fits && d < data.size(); ++d) {
    fits = static_cast<int64_t>(d) == axis || indices[d] <= data[d];
  }
  if (!fits) {
    return error(StatusCode::ShapeMismatch,
                 "indices of shape {} and updates of shape {} must be equal and lie inside data of "
                 "shape {} beside axis {}",
                 to_string(indices), to_string(context.shape(2)), to_string(data), axis);
  }
  context.set_output(0, context.type(0), data);
  return {};
}

Status evaluate_scatter_elements(EvaluateContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& updates = context.input(2);
  Tensor& y = context.output(0);
  copy_elements(data, y);
  HET_ASSIGN(const auto reduction, scatter_reduction(context.attributes(), data.type()));
  HET_ASSIGN(const int64_t axis,
             normalize_axis(context.attributes().get_int("axis", 0), data.rank()));
  const auto axis_index = static_cast<size_t>(axis);
  HET_ASSIGN(const std::vector<int64_t> indices,
             read_indices(context.input(1), data.shape()[axis_index]));
  const std::vector<int64_t> strides = row_major_strides(data.shape());
  const size_t width = byte_width(data.type());
  std::vector<int64_t> position(data.shape().size());
  for (size_t i = 0; i < indices.size(); ++i) {
    int64_t offset = indices[i] * strides[axis_index];
    for (size_t d = 0; d < position.size(); ++d) {
      if (d != axis_index) offset += position[d] * strides[d];
    }
    HET_TRY(scatter_combine(reduction, data.type(), y.bytes() + static_cast<size_t>(offset) * width,
                            updates.bytes() + i * width, 1));
    for (size_t d = position.size(); d-- > 0;) {
      if (++position[d] < updates.shape()[d]) break;
      position[d] = 0;
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_scatter_elements(OpRegistry& registry) {
  registry.add(
      {"ScatterElements", "", 18, 3, 3, infer_scatter_elements, evaluate_scatter_elements});
  // The name that ScatterElements had until opset 10, still in use.
  registry.add({"Scatter", "", 11, 3, 3, infer_scatter_elements, evaluate_scatter_elements});
}

}  // namespace het
