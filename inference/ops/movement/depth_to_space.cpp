#include <string>
#include <vector>

#include "inference/base/registration.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/strided_copy.h"

namespace het {
namespace {

Result<int64_t> block_size(const Attributes& attributes) {
  HET_TRY(check_attributes(
      attributes, {{"blocksize", AttributeType::Int, true}, {"mode", AttributeType::String}}));
  const int64_t block = attributes.get_int("blocksize", 0);
  if (block < 1 || block > INT32_MAX) {
    return error(StatusCode::InvalidArgument, "blocksize is {}, but must be from 1 to {}", block,
                 INT32_MAX);
  }
  return block;
}

Result<bool> is_column_row_depth(const Attributes& attributes) {
  const std::string mode = attributes.get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD") {
    return error(StatusCode::InvalidArgument, "mode is '{}', but must be DCR or CRD", mode);
  }
  return mode == "CRD";
}

Status infer_depth_to_space(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_TRY(check_rank(context, 0, "input", 4, 4));
  HET_ASSIGN(const int64_t block, block_size(context.attributes()));
  HET_TRY(is_column_row_depth(context.attributes()));
  const Shape& x = context.shape(0);
  if (x[1] % (block * block) != 0) {
    return error(StatusCode::ShapeMismatch,
                 "input has shape {}, but its channels must be a multiple of blocksize squared, {}",
                 to_string(x), block * block);
  }
  Shape y{x[0], x[1] / (block * block), 0, 0};
  if (__builtin_mul_overflow(x[2], block, &y[2]) || __builtin_mul_overflow(x[3], block, &y[3])) {
    return error(StatusCode::ShapeMismatch, "input of shape {} is too large for blocksize {}",
                 to_string(x), block);
  }
  context.set_output(0, context.type(0), std::move(y));
  return {};
}

Status infer_space_to_depth(InferContext& context) {
  HET_TRY(check_input(context, 0, "input", kWholeByteTypes));
  HET_TRY(check_rank(context, 0, "input", 4, 4));
  HET_ASSIGN(const int64_t block, block_size(context.attributes()));
  HET_TRY(is_column_row_depth(context.attributes()));
  const Shape& x = context.shape(0);
  if (x[2] % block != 0 || x[3] % block != 0) {
    return error(StatusCode::ShapeMismatch,
                 "input has shape {}, but its height and width must be multiples of blocksize {}",
                 to_string(x), block);
  }
  Shape y{x[0], 0, x[2] / block, x[3] / block};
  if (__builtin_mul_overflow(x[1], block * block, &y[1])) {
    return error(StatusCode::ShapeMismatch, "input of shape {} is too large for blocksize {}",
                 to_string(x), block);
  }
  context.set_output(0, context.type(0), std::move(y));
  return {};
}

/// Both operators see the deep tensor as [n, block row, block column, c, h, w] (DCR) or [n, c,
/// block row, block column, h, w] (CRD) and the wide one as [n, c, h, block row, w, block column].
template <bool kToSpace>
Status evaluate_blocks(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  Tensor& y = context.output(0);
  HET_ASSIGN(const int64_t block, block_size(context.attributes()));
  HET_ASSIGN(const bool column_row_depth, is_column_row_depth(context.attributes()));
  const Shape& wide = kToSpace ? y.shape() : x.shape();
  const int64_t c = wide[1];
  const int64_t h = wide[2] / block;
  const int64_t w = wide[3] / block;
  // Dimensions: n, c, h, block row, w, block column.
  const Shape dims{wide[0], c, h, block, w, block};
  const std::vector<int64_t> wide_strides = row_major_strides(dims);
  const int64_t plane = h * w;
  const int64_t channel_step = column_row_depth ? block * block * plane : plane;
  const int64_t column_step = column_row_depth ? plane : c * plane;
  const std::vector<int64_t> deep_strides{
      c * block * block * plane, channel_step, w, block * column_step, 1, column_step};
  strided_copy(dims, byte_width(x.type()), x.bytes(), kToSpace ? deep_strides : wide_strides,
               y.bytes(), kToSpace ? wide_strides : deep_strides);
  return {};
}

}  // namespace

HET_REGISTRATION void register_depth_to_space(OpRegistry& registry) {
  registry.add({"DepthToSpace", "", 28, 1, 1, infer_depth_to_space, evaluate_blocks<true>});
  registry.add({"SpaceToDepth", "", 28, 1, 1, infer_space_to_depth, evaluate_blocks<false>});
}

}  // namespace het
