#include <utility>

#include "inference/readers/onnx/lift_rules.h"
#include "inference/readers/onnx/packed_weights.h"

namespace het::onnx {
namespace {

/// B's form: N rows of `blocks` blocks of `block` numbers.
struct PackedWeights {
  int64_t bits = 4;
  int64_t n = 0;
  int64_t k = 0;
  int64_t block = 0;
  int64_t blocks = 0;
};

Result<PackedWeights> packed_weights(const PendingNode& node) {
  PackedWeights form;
  form.bits = node.attributes.get_int("bits", 4);
  form.n = node.attributes.get_int("N", 0);
  form.k = node.attributes.get_int("K", 0);
  form.block = node.attributes.get_int("block_size", 0);
  const bool sane = unsigned_integer(form.bits) != ElementType::Undefined && form.n > 0 &&
                    form.n <= INT32_MAX && form.k > 0 && form.k <= INT32_MAX && form.block >= 16 &&
                    form.block <= INT32_MAX && form.block % 16 == 0;
  if (!sane || node.input(4) != nullptr || node.attributes.get_int("weight_prepacked", 0) != 0) {
    return error(StatusCode::NotSupported,
                 "MatMulNBits with {} bits, N {}, K {}, block_size {} (or with g_idx or prepacked "
                 "weights) is not supported",
                 form.bits, form.n, form.k, form.block);
  }
  form.blocks = (form.k + form.block - 1) / form.block;
  return form;
}

/// Zero points [N, blocks]: the middle of the range, or those of the file.
Result<Tensor> zero_points(const Value* value, const PackedWeights& form) {
  if (value == nullptr) return middle_numbers(form.bits, {form.n, form.blocks});
  const int64_t per_byte = 8 / form.bits;
  const int64_t columns = (form.blocks + per_byte - 1) / per_byte * per_byte;
  HET_ASSIGN(const Tensor rows, packed_numbers(*value, form.bits, {form.n, columns}));
  return first_columns(rows, form.blocks);
}

}  // namespace

/// A, B, scales, zero_points, g_idx, bias: A times the transpose of B [N, K], whose numbers lie in
/// blocks along K: a blocked DequantizeLinear of a constant.
void lift_matmul_n_bits(LiftContext& context) {
  const PendingNode& node = context.node();
  if (node.input(0) == nullptr || node.input(1) == nullptr || node.input(2) == nullptr) {
    return context.refuse("MatMulNBits needs A, B and scales");
  }
  const auto form = packed_weights(node);
  if (!form) return context.refuse(form.error().message());
  auto weights = packed_numbers(*node.input(1), form->bits, {form->n, form->blocks * form->block});
  if (!weights) return context.refuse(weights.error().message());
  auto zeros = zero_points(node.input(3), *form);
  if (!zeros) return context.refuse(zeros.error().message());
  Value* const scale = context.insert(
      "Reshape", {node.input(2), context.constant("blocks", {form->n, form->blocks})});
  Attributes blocked;
  blocked.set("axis", int64_t{1});
  blocked.set("block_size", form->block);
  Value* real = context.insert("DequantizeLinear",
                               {context.constant("weights", *std::move(weights)), scale,
                                context.constant("zero_points", *std::move(zeros))},
                               std::move(blocked));
  if (form->blocks * form->block != form->k) {
    real = context.insert("Slice",
                          {real, context.constant("start", {0}), context.constant("end", {form->k}),
                           context.constant("axis", {1})});
  }
  std::vector<Value*> operands{node.input(0), context.transpose(real, {1, 0})};
  Value* const bias = node.input(5);
  if (bias == nullptr) return context.become("MatMul", std::move(operands));
  context.become("Add", {context.insert("MatMul", std::move(operands)), bias});
}

}  // namespace het::onnx
