#include "inference/passes/multiply_adds.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "inference/ops/products/einsum.h"

namespace het {
namespace {

enum class Product { Convolution, Transposed, Matrices, Gemm, Einsum };

struct ProductType {
  std::string_view type;
  Product product;
  size_t weights;  ///< position of the second factor
};

constexpr std::array<ProductType, 10> kTypes = {{{"Conv", Product::Convolution, 1},
                                                 {"ConvInteger", Product::Convolution, 1},
                                                 {"QLinearConv", Product::Convolution, 3},
                                                 {"DeformConv", Product::Convolution, 1},
                                                 {"ConvTranspose", Product::Transposed, 1},
                                                 {"MatMul", Product::Matrices, 1},
                                                 {"MatMulInteger", Product::Matrices, 1},
                                                 {"QLinearMatMul", Product::Matrices, 3},
                                                 {"Gemm", Product::Gemm, 1},
                                                 {"Einsum", Product::Einsum, 1}}};

double elements(const Shape& shape) {
  return static_cast<double>(element_count(shape));
}

/// Of one filter, over all of its input channels.
double taps(const Shape& weights) {
  return weights.empty() || weights[0] == 0 ? 0.0
                                            : elements(weights) / static_cast<double>(weights[0]);
}

std::optional<double> einsum_work(const Node& node) {
  std::vector<Shape> shapes;
  for (const Value* input : node.inputs()) shapes.push_back(input->desc().shape);
  const auto plan = einsum_plan(node.attributes().get_string("equation", ""), shapes);
  if (!plan) return std::nullopt;
  return elements(plan->loops) * static_cast<double>(shapes.size() - 1);
}

std::optional<double> work_of(const Node& node, const ProductType& type) {
  const auto is_known = [](const Value* value) {
    return value != nullptr && value->desc().is_static();
  };
  const Value* a = node.input(0);
  const Value* b = node.input(type.weights);
  if (!is_known(node.output()) || !is_known(a)) return std::nullopt;
  if (type.product == Product::Einsum) {
    if (!std::ranges::all_of(node.inputs(), is_known)) return std::nullopt;
    return einsum_work(node);
  }
  if (!is_known(b)) return std::nullopt;
  const Shape& x = a->desc().shape;
  const double results = elements(node.output()->desc().shape);
  switch (type.product) {
    case Product::Convolution:
      return results * taps(b->desc().shape);
    case Product::Transposed:
      return elements(x) * taps(b->desc().shape);
    case Product::Gemm:
      if (node.attributes().get_int("transA", 0) != 0) {
        return results * static_cast<double>(x.empty() ? 1 : x.front());
      }
      [[fallthrough]];
    default:
      return results * static_cast<double>(x.empty() ? 1 : x.back());
  }
}

}  // namespace

std::vector<ProductWork> product_works(const Model& model) {
  std::vector<ProductWork> works;
  for (const auto& node : model.nodes()) {
    const auto type = std::ranges::find(kTypes, node->op_type(), &ProductType::type);
    if (type != kTypes.end()) works.push_back({node.get(), work_of(*node, *type)});
  }
  return works;
}

}  // namespace het
