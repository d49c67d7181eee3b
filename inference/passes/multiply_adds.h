#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// A convolution or matrix product of a model and the multiply-adds of one execution as its
/// definition has them, whatever algorithm runs it; nothing where sizes are not known.
struct ProductWork {
  const Node* node = nullptr;
  std::optional<double> multiply_adds;
};

/// Conv, ConvTranspose, DeformConv, MatMul, Gemm and Einsum and their integer forms, in the order
/// of the model, whose shapes were inferred (prepare_model). Zeros of padding count like values.
HET_API std::vector<ProductWork> product_works(const Model& model);

}  // namespace het
