#include <cstring>

#include "inference/base/registration.h"
#include "inference/ops/movement/gather_index.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

Status infer_gather(InferContext& context) {
  HET_ASSIGN(const int64_t axis, check_gather(context));
  const Shape& data = context.shape(0);
  const Shape& indices = context.shape(1);
  Shape shape(data.begin(), data.begin() + axis);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), data.begin() + axis + 1, data.end());
  context.set_output(0, context.type(0), std::move(shape));
  return {};
}

Status evaluate_gather(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const int64_t axis, normalize_axis(context.attributes().get_int("axis", 0), x.rank()));
  const auto d = static_cast<size_t>(axis);
  HET_ASSIGN(const std::vector<int64_t> indices, read_indices(context.input(1), x.shape()[d]));
  if (y.element_count() == 0) return {};
  const std::span<const int64_t> dims = x.shape();
  const int64_t outer = element_count(dims.first(d));
  const size_t slice_bytes =
      static_cast<size_t>(element_count(dims.subspan(d + 1))) * byte_width(x.type());
  std::byte* dst = y.bytes();
  for (int64_t n = 0; n < outer; ++n) {
    for (const int64_t index : indices) {
      const auto row = static_cast<size_t>(n * dims[d] + index);
      std::memcpy(dst, x.bytes() + row * slice_bytes, slice_bytes);
      dst += slice_bytes;
    }
  }
  return {};
}

}  // namespace

HET_REGISTRATION void register_gather(OpRegistry& registry) {
  registry.add({"Gather", "", 13, 2, 2, infer_gather, evaluate_gather});
}

}  // namespace het
