#include <new>

#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/body.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

/// Bytes of one output that grows with the iterations.
constexpr size_t kMaxStackBytes = size_t{4} << 30;

}  // namespace

Result<Shape> insert_dimension(const Shape& shape, int64_t axis, int64_t size) {
  HET_ASSIGN(const int64_t place, normalize_axis(axis, static_cast<int64_t>(shape.size()) + 1));
  Shape result = shape;
  result.insert(result.begin() + place, size);
  return result;
}

Status SliceStack::push(const Tensor& slice) {
  if (count_ == 0) {
    desc_ = {slice.type(), slice.shape(), Layout::Plain};
    if (!kWholeByteTypes.contains(desc_.type)) {
      return error(StatusCode::NotSupported, "outputs per iteration of type {} are not supported",
                   to_string(desc_.type));
    }
  } else if (slice.type() != desc_.type || slice.shape() != desc_.shape) {
    return error(StatusCode::ShapeMismatch,
                 "iteration {} gives {} for an output that started with {}: all slices must be "
                 "equal",
                 count_, to_string(slice.desc()), to_string(desc_));
  }
  const size_t size = slice.size_bytes();
  if (size > kMaxStackBytes - bytes_.size()) {
    return error(StatusCode::OutOfMemory,
                 "an output of {} slices of {} exceeds the limit of {} bytes", count_ + 1,
                 to_string(desc_), kMaxStackBytes);
  }
  try {
    bytes_.insert(bytes_.end(), slice.bytes(), slice.bytes() + size);
  } catch (const std::bad_alloc&) {
    return error(StatusCode::OutOfMemory, "{} slices of {} do not fit into memory", count_ + 1,
                 to_string(desc_));
  }
  ++count_;
  return {};
}

Status SliceStack::deliver(EvaluateContext& context, size_t index, int64_t axis, bool backwards,
                           const TensorDesc& empty) const {
  if (!context.has_output(index)) return {};
  const TensorDesc& slice = count_ == 0 ? empty : desc_;
  HET_ASSIGN(const Shape shape, insert_dimension(slice.shape, axis, count_));
  const TensorDesc desc{slice.type, shape, Layout::Plain};
  Tensor& y = context.output(index);
  if (y.empty() || y.desc() != desc) HET_TRY(context.allocate_output(index, desc.type, shape));
  if (y.element_count() == 0) return {};

  // Stacked, the new axis comes first; copied slice after slice to where it belongs.
  HET_ASSIGN(const int64_t place, normalize_axis(axis, y.rank()));
  std::vector<int64_t> dst_strides = row_major_strides(shape);
  const int64_t step = dst_strides[static_cast<size_t>(place)];
  dst_strides.erase(dst_strides.begin() + place);
  const std::vector<int64_t> src_strides = row_major_strides(slice.shape);
  const auto width = static_cast<int64_t>(byte_width(slice.type));
  const auto slice_bytes = static_cast<int64_t>(bytes_.size()) / count_;
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t position = backwards ? count_ - 1 - i : i;
    strided_copy(slice.shape, static_cast<size_t>(width), bytes_.data() + i * slice_bytes,
                 src_strides, y.bytes() + position * step * width, dst_strides);
  }
  return {};
}

Result<TensorDesc> absent_slice(const Node& node, size_t output, const TensorDesc& inferred) {
  if (inferred.is_static()) return inferred;
  const std::vector<int64_t> types = node.attributes().get_ints(kBodyTypesAttribute);
  const std::vector<int64_t> ranks = node.attributes().get_ints(kBodyRanksAttribute);
  if (output >= types.size() || types[output] == 0) {
    return error(StatusCode::NotSupported,
                 "there was no iteration, and neither the body nor the file tells the type of body "
                 "output {}; declare it in the model",
                 output);
  }
  TensorDesc desc;
  HET_ASSIGN(desc.type, element_type_from_onnx(types[output]));
  const int64_t rank = output < ranks.size() ? ranks[output] : 0;
  desc.shape.assign(static_cast<size_t>(std::max<int64_t>(rank, 0)), 0);
  return desc;
}

}  // namespace het
