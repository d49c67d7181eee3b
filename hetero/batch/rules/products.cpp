#include <array>
#include <optional>

#include "hetero/batch/rules/elementwise.h"
#include "hetero/batch/rules/rule.h"
#include "inference/ops/products/einsum.h"

namespace het::hetero {
namespace {

/// [..., m, k] x [..., k, n], the outer dimensions broadcast.
Status matrix_product(RuleContext& context, size_t a, size_t b) {
  const size_t rank = std::max(context.rank(a), context.rank(b));
  const bool is_list = context.rank(a) == 1 || context.rank(b) == 1;
  std::optional<BatchAxis> found;
  for (const size_t i : {a, b}) {
    if (context.input(i).is_shared()) continue;
    HET_TRY(context.need_batched(i));
    BatchAxis axis = context.input(i).axis;
    const size_t own = context.rank(i);
    const size_t summed = own == 1 || i == a ? own - 1 : own - 2;
    if (axis.dim == summed) {
      return context.refuse(fmt::format("it sums along dimension {} of {}, over all items",
                                        axis.dim, to_string(context.shape(i))));
    }
    const bool is_outer = axis.dim + 2 < own;
    const size_t other = i == a ? b : a;
    if (!is_outer && !context.input(other).is_shared()) {
      return context.refuse("each item meets every other one");
    }
    axis.dim += rank - own;
    if (found && *found != axis) {
      return context.refuse("the items of its inputs lie in different dimensions");
    }
    // One matrix of several for each item would not be the same for all.
    if (is_outer && context.input(other).is_shared()) {
      const size_t missing = rank - context.rank(other);
      if (axis.dim >= missing && context.shape(other)[axis.dim - missing] != 1) {
        return context.refuse("its other input is not the same for all items");
      }
    }
    found = axis;
  }
  if (!found) return context.refuse("its factors are the same for all items, its scales are not");
  // A list has no dimension of its own in the product.
  if (is_list && context.rank(a) == 1 && found->dim + 1 == rank) --found->dim;
  context.set(0, Items::batched(*found));
  return {};
}

Status matmul(RuleContext& context) {
  return matrix_product(context, 0, 1);
}

Status matmul_integer(RuleContext& context) {
  HET_TRY(context.need_others_shared({0, 1}));
  return matrix_product(context, 0, 1);
}

Status qlinear_matmul(RuleContext& context) {
  HET_TRY(context.need_others_shared({0, 3}));
  return matrix_product(context, 0, 3);
}

Status gemm(RuleContext& context) {
  std::optional<BatchAxis> found;
  for (const size_t i : {size_t{0}, size_t{1}}) {
    if (context.input(i).is_shared()) continue;
    HET_TRY(context.need_batched(i));
    const bool is_turned = context.get_int(i == 0 ? "transA" : "transB", 0) != 0;
    BatchAxis axis = context.input(i).axis;
    if (is_turned) axis.dim = 1 - axis.dim;
    if (axis.dim != i) return context.refuse("it sums over all items");
    if (found) return context.refuse("each item meets every other one");
    found = axis;
  }
  if (!found) return context.refuse("only what it adds differs from item to item");
  const size_t added = 2;
  if (context.has_input(added) && context.input(added).is_batched()) {
    BatchAxis axis = context.input(added).axis;
    axis.dim += 2 - context.rank(added);
    if (axis != *found) return context.refuse("what it adds does not lie beside the items");
  } else if (context.has_input(added)) {
    HET_TRY(context.need_shared(added));
    const size_t missing = 2 - context.rank(added);
    if (found->dim >= missing && context.shape(added)[found->dim - missing] != 1) {
      return context.refuse("what it adds is not the same for all items");
    }
  }
  context.set(0, Items::batched(*found));
  return {};
}

/// Elements from one part of a dense value's dimension to the next.
int64_t dense_stride(const Shape& shape, size_t dim) {
  int64_t stride = 1;
  for (size_t d = dim + 1; d < shape.size(); ++d) stride *= shape[d];
  return stride;
}

Status einsum(RuleContext& context) {
  std::vector<Shape> shapes;
  for (size_t i = 0; i < context.input_count(); ++i) shapes.push_back(context.shape(i));
  HET_ASSIGN(const EinsumPlan plan,
             einsum_plan(context.node().attributes().get_string("equation", ""), shapes));
  std::optional<BatchAxis> found;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (context.input(i).is_shared()) continue;
    HET_TRY(context.need_batched(i));
    BatchAxis axis = context.input(i).axis;
    const int64_t stride = dense_stride(shapes[i], axis.dim);
    size_t loop = 0;
    while (loop < plan.loops.size() &&
           (plan.loops[loop] != shapes[i][axis.dim] || plan.strides[i][loop] != stride)) {
      ++loop;
    }
    if (loop >= plan.output_shape.size()) {
      return context.refuse("it sums over all items, or takes a diagonal of them");
    }
    axis.dim = loop;
    if (found && *found != axis) return context.refuse("each item meets every other one");
    found = axis;
  }
  for (size_t i = 0; found && i < shapes.size(); ++i) {
    if (context.input(i).is_shared() && plan.strides[i][found->dim] != 0) {
      return context.refuse(fmt::format("its input {} is not the same for all items", i));
    }
  }
  context.set(0, found ? Items::batched(*found) : Items());
  return {};
}

/// The last two dimensions are matrices.
Status of_matrices(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  HET_TRY(context.need_apart(0, context.rank(0) - 1));
  HET_TRY(context.need_apart(0, context.rank(0) - 2));
  context.set(0, context.input(0));
  return {};
}

/// A mask [..., heads, length, length] may be the same for all items.
Status attention(RuleContext& context) {
  for (const size_t i : {0, 1, 2}) HET_TRY(context.need_batched(i));
  const size_t mask = 3;
  if (context.input(mask).is_batched() && context.rank(mask) != 4) {
    return context.refuse("its mask has no dimension for the items");
  }
  if (context.has_input(mask) && context.input(mask).is_shared() && context.rank(mask) == 4 &&
      context.shape(mask)[0] != 1) {
    return context.refuse("its mask is not the same for all items");
  }
  return follow_dimension_0(context);
}

/// cos_cache and sin_cache have the items in dimension 0 unless positions choose among their rows.
Status rotary_embedding(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  if (context.has_input(3)) {
    HET_TRY(context.need_shared(1));
    HET_TRY(context.need_shared(2));
  }
  return follow_dimension_0(context);
}

Status linear_attention(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  return follow_dimension_0(context);
}

Status causal_conv(RuleContext& context) {
  HET_TRY(context.need_others_shared({0, 3}));
  HET_TRY(context.need_batched(0));
  return follow_dimension_0(context);
}

}  // namespace

std::vector<RuleRow> product_rules() {
  return {
      {"MatMul", "", matmul},
      {"MatMulInteger", "", matmul_integer},
      {"QLinearMatMul", "", qlinear_matmul},
      {"Gemm", "", gemm},
      {"Einsum", "", einsum},
      {"Det", "", of_matrices},
      {"Inverse", "het", of_matrices},
      {"Attention", "", attention},
      {"RotaryEmbedding", "", rotary_embedding},
      {"LinearAttention", "", linear_attention},
      {"CausalConvWithState", "", causal_conv},
  };
}

}  // namespace het::hetero
