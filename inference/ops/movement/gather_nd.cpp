#include <algorithm>
#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/movement/gather_index.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_gather_nd(InferContext& context) {
  HET_TRY(check_input(context, 0, "data", kWholeByteTypes));
  HET_TRY(check_input(context, 1, "indices", kIndexTypes));
  HET_TRY(check_rank(context, 0, "data", 1, kAnyRank));
  HET_TRY(check_rank(context, 1, "indices", 1, kAnyRank));
  HET_TRY(check_attributes(context.attributes(), {{"batch_dims", AttributeType::Int}}));
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  const int64_t batch = context.attributes().get_int("batch_dims", 0);
  if (batch < 0 || batch >= std::min(context.rank(0), context.rank(1)) ||
      !std::equal(data.begin(), data.begin() + batch, indices.begin())) {
    return error(StatusCode::InvalidArgument,
                 "batch_dims {} does not fit data of shape {} and indices of shape {}", batch,
                 to_string(data), to_string(indices));
  }
  const int64_t length = indices.back();
  if (length > context.rank(0) - batch) {
    return error(StatusCode::ShapeMismatch,
                 "index tuples of {} for data of shape {} with {} batch dimensions", length,
                 to_string(data), batch);
  }
  Shape shape(indices.begin(), indices.end() - 1);
  shape.insert(shape.end(), data.begin() + batch + length, data.end());
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_gather_nd(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  const Tensor& indices = context.input(1);
  Tensor& y = context.output(0);
  if (y.element_count() == 0) return {};
  const auto batch = static_cast<size_t>(context.attributes().get_int("batch_dims", 0));
  const std::span<const int64_t> dims = x.shape();
  const std::vector<int64_t> strides = row_major_strides(x.shape());
  HET_ASSIGN(const std::vector<int64_t> offsets,
             read_index_tuples(indices, dims.subspan(batch),
                               std::span<const int64_t>(strides).subspan(batch)));
  const size_t width = byte_width(x.type());
  const auto length = static_cast<size_t>(indices.shape().back());
  const size_t slice_bytes =
      static_cast<size_t>(element_count(dims.subspan(batch + length))) * width;
  const auto batches = static_cast<size_t>(element_count(dims.first(batch)));
  const size_t batch_bytes = x.size_bytes() / batches;
  const size_t per_batch = offsets.size() / batches;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const size_t start = i / per_batch * batch_bytes + static_cast<size_t>(offsets[i]) * width;
    std::memcpy(y.bytes() + i * slice_bytes, x.bytes() + start, slice_bytes);
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_gather_nd(OpRegistry& registry) {
  registry.add({"GatherND", "", 13, 2, 2, infer_gather_nd, evaluate_gather_nd});
}

}  // namespace het
