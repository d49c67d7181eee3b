#pragma once

#include <utility>
#include <vector>

#include "devices/gpu/plan/plan_builder.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::gpu {

/// Matrices in a tensor, by steps in elements.
struct MatrixSteps {
  int64_t matrix = 0;  ///< from one matrix to the next; not used where offsets are given
  int64_t row = 0;
  int64_t column = 0;
};

/// tail(alpha * left [m, k] * right [k, n] + beta * bias, sum) for a stack of matrices. All tensors
/// are in the stored type.
struct Product {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  /// Index of the left and of the right matrix of every product.
  std::vector<std::pair<int, int>> matrices = {{0, 0}};
  TensorId left = kNoTensor;
  MatrixSteps left_steps;
  std::vector<int64_t> left_offsets;  ///< of the left matrices, where no step says it
  /// The right side: a constant of the model, or a tensor.
  const Tensor* right_constant = nullptr;
  TensorId right = kNoTensor;
  MatrixSteps right_steps;
  std::vector<int64_t> right_offsets;  ///< of the right matrices of a tensor
  int64_t right_matrices = 1;
  TensorId bias = kNoTensor;  ///< along rows and columns of every product, by steps 0, 1 or n
  int64_t bias_row = 0;
  int64_t bias_column = 0;
  TensorId sum = kNoTensor;  ///< in the shape of the result
  float alpha = 1.0f;
  float beta = 1.0f;
  FusedTail tail;
  /// Dense, [matrices, m, n], unless offsets of every product and a step between rows are given.
  TensorId result = kNoTensor;
  std::vector<int64_t> result_offsets;
  int64_t result_row = 0;
};

/// Elements that the right side may take, padded; kernels count in int.
bool is_product_too_large(int64_t right_matrices, int64_t k, int64_t n);

/// Adds the steps of a product.
Status add_product(PlanBuilder& builder, const Node& node, const Product& product);

}  // namespace het::gpu
