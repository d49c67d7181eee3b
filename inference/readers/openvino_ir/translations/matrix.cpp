#include <limits>
#include <numeric>

#include "inference/readers/openvino_ir/own_operator.h"
#include "inference/readers/openvino_ir/translate.h"

/// Products of matrices.
namespace het::ir {
namespace {

/// The value with its last two dimensions swapped; one dimension stays as it is.
Value* matrix_transposed(LayerContext& context, Value* value, int64_t rank) {
  if (rank < 2) return value;
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return context.transposed(value, order);
}

void mat_mul(LayerContext& context) {
  Value* a = context.input(0);
  Value* b = context.input(1);
  if (context.flag("transpose_a", false)) a = matrix_transposed(context, a, context.input_rank(0));
  if (context.flag("transpose_b", false)) b = matrix_transposed(context, b, context.input_rank(1));
  context.finish("MatMul", {a, b});
}

void einsum(LayerContext& context) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) inputs.push_back(context.input(i));
  context.finish("Einsum", std::move(inputs), with("equation", context.text("equation", "")));
}

/// Lower triangle of [length of q, length of k]: a query sees the keys up to its own place.
Value* causal_mask(LayerContext& context) {
  const auto length = [&](size_t input) {
    Attributes attributes;
    attributes.set("start", int64_t{-2});
    attributes.set("end", int64_t{-1});
    return context.add("Shape", {context.input(input)}, std::move(attributes));
  };
  Value* const shape = context.add("Concat", {length(0), length(1)}, with("axis", int64_t{0}));
  Value* const ones =
      context.add("ConstantOfShape", {shape}, with("value", Tensor::from<int64_t>({1}, {1})));
  return context.cast(context.add("Trilu", {ones}, with("upper", int64_t{0})), ElementType::Bool);
}

/// softmax(scale * q k^T + mask) v. A mask of booleans keeps what is true.
void attention(LayerContext& context) {
  const int64_t rank = context.input_rank(0);
  const ElementType type = context.input_type(0);
  Value* scale = context.input(4);
  if (scale == nullptr) {
    Value* const size = context.add("Shape", {context.input(0)}, with("start", int64_t{-1}));
    Value* const width = context.cast(size, type);
    scale = context.add("Reciprocal", {context.add("Sqrt", {width})});
  }
  Value* const q = context.add("Mul", {context.input(0), scale});
  Value* const keys = matrix_transposed(context, context.input(1), context.input_rank(1));
  Value* scores = context.add("MatMul", {q, keys});
  const bool causal = context.flag("causal", false);
  Value* const mask = causal ? causal_mask(context) : context.input(3);
  const bool is_bool = causal || context.input_type(3) == ElementType::Bool;
  if (mask != nullptr && is_bool) {
    scores = context.add(
        "Where",
        {mask, scores, context.scalar("nothing", type, -std::numeric_limits<double>::infinity())});
  } else if (mask != nullptr) {
    scores = context.add("Add", {scores, mask});
  }
  if (rank < 2) return context.refuse("attention of inputs of unknown rank is not supported");
  Value* const weights = context.add("Softmax", {scores}, with("axis", int64_t{-1}));
  context.finish("MatMul", {weights, context.input(2)});
}

void inverse(LayerContext& context) {
  constexpr OwnAttribute kAttributes[] = {{"adjoint", OwnAttributeKind::Flag}};
  finish_own_operator(context, kAttributes);
}

constexpr Translation kMatrixTable[] = {
    {"MatMul", mat_mul},
    {"Einsum", einsum},
    {"ScaledDotProductAttention", attention},
    {"Inverse", inverse},
};

}  // namespace

std::span<const Translation> matrix_translations() {
  return kMatrixTable;
}

}  // namespace het::ir
