#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/products/products.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

std::string refuse_affine_grid(const Node& node) {
  const ElementType type = node.input(0)->desc().type;
  return type == ElementType::Float32
             ? ""
             : fmt::format("no GPU kernel for grids of {}", to_string(type));
}

/// Position i of n along a dimension that spans [-1, 1]; the middle when there is one corner only.
double grid_position(int64_t i, int64_t n, bool align_corners) {
  if (!align_corners) return (2.0 * static_cast<double>(i) + 1) / static_cast<double>(n) - 1;
  return n > 1 ? 2.0 * static_cast<double>(i) / static_cast<double>(n - 1) - 1 : 0;
}

/// (x, y, (z,) 1) of every position of a grid of `shape`, [n, (d,) h, w, coordinates].
std::vector<float> positions(const Shape& shape, bool align_corners) {
  const int64_t width = shape[shape.size() - 2];
  const int64_t height = shape[shape.size() - 3];
  const bool volume = shape.back() == 3;
  const int64_t depth = volume ? shape[1] : 1;
  std::vector<float> list;
  for (int64_t i = 0; i < depth * height * width; ++i) {
    list.push_back(static_cast<float>(grid_position(i % width, width, align_corners)));
    list.push_back(static_cast<float>(grid_position(i / width % height, height, align_corners)));
    if (volume) {
      list.push_back(static_cast<float>(grid_position(i / width / height, depth, align_corners)));
    }
    list.push_back(1.0f);
  }
  return list;
}

/// A product for every picture: all positions, which are known, times theta transposed.
Status plan_affine_grid(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.output()->desc().shape;
  const bool align_corners = node.attributes().get_int("align_corners", 0) != 0;
  Product product;
  product.n = shape.back();
  product.k = product.n + 1;
  product.m = element_count(shape) / shape[0] / product.n;
  product.left_steps = {0, product.k, 1};
  product.right_steps = {product.n * product.k, 1, product.k};
  product.right_matrices = shape[0];
  product.matrices.clear();
  for (int64_t i = 0; i < shape[0]; ++i) product.matrices.emplace_back(0, static_cast<int>(i));
  HET_ASSIGN(product.left, builder.stored_constant(positions(shape, align_corners)));
  HET_ASSIGN(product.right,
             builder.read(*node.input(0), Format::Plain, builder.options().stored_type));
  product.result = builder.write(*node.output(), Format::Plain);
  return add_product(builder, node, product);
}

}  // namespace

HET_REGISTRATION void register_affine_grid(KernelRegistry& registry) {
  registry.add("", "AffineGrid", {refuse_affine_grid, plan_affine_grid});
}

}  // namespace het::gpu
