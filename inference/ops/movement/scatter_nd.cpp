#include <algorithm>

#include "inference/base/registration.h"
#include "inference/ops/movement/gather_index.h"
#include "inference/ops/movement/scatter_reduction.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Status infer_scatter_nd(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kWholeByteTypes));
  HET_TRY(check_input(context, 1, "indices", kIndexTypes));
  HET_TRY(check_input(context, 2, "updates", kWholeByteTypes));
  HET_TRY(check_same_type(context, 0, 2));
  HET_TRY(check_rank(context, 0, "data", 1, kAnyRank));
  HET_TRY(check_rank(context, 1, "indices", 1, kAnyRank));
  HET_TRY(scatter_reduction(context.attributes(), context.type(0)));
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  const int64_t length = indices.back();
  if (length > context.rank(0)) {
    return error(StatusCode::ShapeMismatch, "index tuples of {} for data of shape {}", length,
                 to_string(data));
  }
  Shape wanted(indices.begin(), indices.end() - 1);
  wanted.insert(wanted.end(), data.begin() + length, data.end());
  if (context.shape(2) != wanted) {
    return error(StatusCode::ShapeMismatch,
                 "updates of shape {} for data of shape {} and indices of shape {} must have shape "
                 "{}",
                 to_string(context.shape(2)), to_string(data), to_string(indices),
                 to_string(wanted));
  }
  context.set_output(0, context.type(0), data);
  return {};
}

Status evaluate_scatter_nd(EvaluateContext& context) {
  const Tensor& data = context.input(0);
  const Tensor& indices = context.input(1);
  const Tensor& updates = context.input(2);
  Tensor& y = context.output(0);
  copy_elements(data, y);
  if (updates.element_count() == 0) return {};
  HET_ASSIGN(const auto reduction, scatter_reduction(context.attributes(), data.type()));
  const std::span<const int64_t> dims = data.shape();
  HET_ASSIGN(const std::vector<int64_t> offsets,
             read_index_tuples(indices, dims, row_major_strides(data.shape())));
  const auto length = static_cast<size_t>(indices.shape().back());
  const auto count = static_cast<size_t>(element_count(dims.subspan(length)));
  const size_t width = byte_width(data.type());
  for (size_t i = 0; i < offsets.size(); ++i) {
    HET_TRY(scatter_combine(reduction, data.type(),
                            y.bytes() + static_cast<size_t>(offsets[i]) * width,
                            updates.bytes() + i * count * width, count));
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_scatter_nd(OpRegistry& registry) {
  registry.add({"ScatterND", "", 18, 3, 3, infer_scatter_nd, evaluate_scatter_nd});
}

}  // namespace het
