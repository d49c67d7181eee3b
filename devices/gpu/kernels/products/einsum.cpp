#include "inference/ops/products/einsum.h"

#include <algorithm>
#include <map>

#include "devices/gpu/products/products.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

/// One loop of an Einstein sum over two operands, by steps in elements.
struct Loop {
  int64_t size = 1;
  int64_t left = 0;
  int64_t right = 0;
  int64_t result = 0;
};

/// The sum as a stack of products: at most one loop each along rows, columns and depth, the others
/// choose matrices.
struct ProductLoops {
  Loop rows;
  Loop columns;
  Loop depth;
  std::vector<Loop> stack;
  bool swapped = false;  ///< the second operand is the left side
};

/// The inner loop takes the outer one in where both operands walk on alike.
bool merge(Loop& outer, const Loop& inner) {
  if (outer.left != inner.left * inner.size || outer.right != inner.right * inner.size ||
      outer.result != inner.result * inner.size) {
    return false;
  }
  outer = {outer.size * inner.size, inner.left, inner.right, inner.result};
  return true;
}

Result<ProductLoops> product_loops(const EinsumPlan& plan) {
  const size_t outputs = plan.output_shape.size();
  const std::vector<int64_t> result = row_major_strides(plan.output_shape);
  ProductLoops made;
  std::vector<Loop> kept;
  bool sums = false;
  for (size_t i = 0; i < plan.loops.size(); ++i) {
    const Loop loop{plan.loops[i], plan.strides[0][i], plan.strides[1][i],
                    i < outputs ? result[i] : 0};
    if (loop.size == 1) continue;
    if (i < outputs) {
      if (kept.empty() || !merge(kept.back(), loop)) kept.push_back(loop);
      continue;
    }
    if (loop.left == 0 || loop.right == 0) {
      return error(StatusCode::NotSupported, "it sums over one operand alone");
    }
    if (sums && !merge(made.depth, loop)) {
      return error(StatusCode::NotSupported, "it sums over dimensions that do not lie together");
    }
    if (!sums) made.depth = loop;
    sums = true;
  }
  made.swapped = !kept.empty() && kept.back().right == 0;
  if (made.swapped) {
    for (Loop& loop : kept) std::swap(loop.left, loop.right);
    std::swap(made.depth.left, made.depth.right);
  }
  if (!kept.empty() && kept.back().left == 0) {
    made.columns = kept.back();
    kept.pop_back();
  }
  // The longest loop that only the left side knows.
  auto rows = kept.end();
  for (auto loop = kept.begin(); loop != kept.end(); ++loop) {
    if (loop->right == 0 && (rows == kept.end() || loop->size > rows->size)) rows = loop;
  }
  if (rows != kept.end()) {
    made.rows = *rows;
    kept.erase(rows);
  }
  made.stack = std::move(kept);
  return made;
}

/// Index of an offset among those that were there before.
int index_of(std::vector<int64_t>& offsets, std::map<int64_t, int>& known, int64_t offset) {
  const auto [found, is_new] = known.emplace(offset, static_cast<int>(offsets.size()));
  if (is_new) offsets.push_back(offset);
  return found->second;
}

/// Sizes, steps and offsets of the products; tensors are not set.
Result<Product> product_of(const Node& node, bool& swapped) {
  constexpr int64_t kMostMatrices = 1 << 16;
  HET_ASSIGN(const EinsumPlan plan,
             einsum_plan(node.attributes().get_string("equation", ""),
                         {node.input(0)->desc().shape, node.input(1)->desc().shape}));
  HET_ASSIGN(const ProductLoops loops, product_loops(plan));
  swapped = loops.swapped;
  Product product;
  product.m = loops.rows.size;
  product.n = loops.columns.size;
  product.k = loops.depth.size;
  product.left_steps = {0, loops.rows.left, loops.depth.left};
  product.right_steps = {0, loops.depth.right, loops.columns.right};
  product.result_row = loops.rows.result;
  std::vector<Loop> places = {{}};  // of the stack's matrices; sizes are not used
  for (const Loop& loop : loops.stack) {
    if (static_cast<int64_t>(places.size()) > kMostMatrices / loop.size) {
      return error(StatusCode::NotSupported, "it is a stack of more than {} products",
                   kMostMatrices);
    }
    std::vector<Loop> next;
    for (const Loop& place : places) {
      for (int64_t i = 0; i < loop.size; ++i) {
        next.push_back({1, place.left + i * loop.left, place.right + i * loop.right,
                        place.result + i * loop.result});
      }
    }
    places = std::move(next);
  }
  std::map<int64_t, int> left;
  std::map<int64_t, int> right;
  product.matrices.clear();
  for (const Loop& place : places) {
    product.matrices.emplace_back(index_of(product.left_offsets, left, place.left),
                                  index_of(product.right_offsets, right, place.right));
    product.result_offsets.push_back(place.result);
  }
  product.right_matrices = static_cast<int64_t>(product.right_offsets.size());
  if (is_product_too_large(product.right_matrices, product.k, product.n)) {
    return error(StatusCode::NotSupported, "the padded right side has more than 2^31 elements");
  }
  return product;
}

std::string refuse_einsum(const Node& node) {
  if (node.inputs().size() != 2) return "it is no product of two operands";
  for (const Value* value : node.inputs()) {
    if (value->desc().type != ElementType::Float32) {
      return fmt::format("Einsum of {} has no GPU kernel, only that of float32",
                         to_string(value->desc().type));
    }
  }
  bool swapped = false;
  const Result<Product> product = product_of(node, swapped);
  return product ? std::string() : product.error().message();
}

Status plan_einsum(PlanBuilder& builder, const Node& node) {
  const ElementType type = builder.options().stored_type;
  bool swapped = false;
  HET_ASSIGN(Product product, product_of(node, swapped));
  HET_ASSIGN(product.left, builder.read(*node.input(swapped ? 1 : 0), Format::Plain, type));
  HET_ASSIGN(product.right, builder.read(*node.input(swapped ? 0 : 1), Format::Plain, type));
  product.result = builder.write(*node.output(), Format::Plain);
  return add_product(builder, node, product);
}

}  // namespace

HET_REGISTRATION void register_einsum(KernelRegistry& registry) {
  registry.add("", "Einsum", {refuse_einsum, plan_einsum});
}

}  // namespace het::gpu
