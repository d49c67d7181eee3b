#include "inference/ops/products/matmul.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class T>
class MatMulTypes : public ::testing::Test {};
using Multiplied =
    ::testing::Types<float, double, Float16, BFloat16, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(MatMulTypes, Multiplied);

TYPED_TEST(MatMulTypes, MultipliesMatrices) {
  const Tensor a = make_tensor<TypeParam>({2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor b = make_tensor<TypeParam>({3, 2}, {1, 0, 2, 1, 0, 3});
  expect_values<TypeParam>(run_op_single({"MatMul", {a, b}}), {2, 2}, {5, 11, 14, 23});
}

TEST(MatMul, VectorsLoseTheirDimension) {
  const Tensor v = make_tensor<float>({2}, {1, 10});
  const Tensor m = make_tensor<float>({2, 2}, {1, 2, 3, 4});
  expect_values<float>(run_op_single({"MatMul", {v, m}}), {2}, {31, 42});
  expect_values<float>(run_op_single({"MatMul", {m, v}}), {2}, {21, 43});
  expect_values<float>(run_op_single({"MatMul", {v, v}}), {}, {101});
}

TEST(MatMul, LeadingDimensionsBroadcast) {
  const Tensor a = make_ramp<float>({2, 1, 1, 2}, 1);  // rows (1,2) and (3,4)
  const Tensor b = make_tensor<float>({3, 2, 1}, {1, 0, 0, 1, 1, 1});
  expect_values<float>(run_op_single({"MatMul", {a, b}}), {2, 3, 1, 1}, {1, 2, 3, 3, 4, 7});
  const Tensor vector = make_tensor<float>({2}, {1, 1});
  expect_values<float>(run_op_single({"MatMul", {vector, b}}), {3, 1}, {1, 1, 2});
}

TEST(MatMul, NothingToSumGivesZero) {
  expect_values<float>(
      run_op_single({"MatMul", {make_ramp<float>({2, 0}), make_ramp<float>({0, 2})}}), {2, 2},
      {0, 0, 0, 0});
  expect_values<float>(
      run_op_single({"MatMul", {make_ramp<float>({0, 3}), make_ramp<float>({3, 2})}}), {0, 2}, {});
}

TEST(MatMul, IntegersWrapAround) {
  const Tensor a = make_tensor<int32_t>({1, 2}, {2147483647, 1});
  const Tensor b = make_tensor<int32_t>({2, 1}, {1, 1});
  expect_values<int32_t>(run_op_single({"MatMul", {a, b}}), {1, 1}, {-2147483648.0});
}

TEST(MatMul, DimensionsAreResolvedForKernels) {
  const auto dims = matmul_dims({5, 1, 2, 7}, {4, 7, 3});
  ASSERT_TRUE(dims);
  EXPECT_EQ(dims->output_shape, (Shape{5, 4, 2, 3}));
  EXPECT_EQ(dims->b_batch, (Shape{1, 4}));
  const auto pairs = matrix_pairs(*dims);
  ASSERT_EQ(pairs.size(), 20u);
  EXPECT_EQ(pairs[6].a, 1);
  EXPECT_EQ(pairs[6].b, 2);
}

TEST(MatMul, RefusesWhatDoesNotFit) {
  const Tensor a = make_ramp<float>({2, 3});
  expect_op_error({"MatMul", {a, a}}, "the inner dimensions differ");
  expect_op_error({"MatMul", {a, Tensor::scalar(1.0f)}}, "scalars have no product");
  expect_op_error({"MatMul", {make_ramp<float>({2, 1, 3}), make_ramp<float>({3, 3, 1})}}, "[2]");
  expect_op_error({"MatMul", {a, make_ramp<double>({3, 2})}}, "types float32 and float64");
  expect_op_error({"MatMul", {make_ramp<int8_t>({2, 3}), make_ramp<int8_t>({3, 2})}},
                  "type int8 of input 0");
}

}  // namespace
}  // namespace het::op_testing
