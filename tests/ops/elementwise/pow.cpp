#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Pow, MixedTypesGiveTheBaseType) {
  const Tensor x = make_tensor<float>({3}, {1, 2, 3});
  expect_values<float>(run_op_single({"Pow", {x, make_tensor<int64_t>({3}, {4, 5, 6})}}), {3},
                       {1, 32, 729});
  expect_values<float>(run_op_single({"Pow", {x, make_tensor<Float16>({}, {0.5})}}), {3},
                       {1, 1.41421356, 1.73205081});
  expect_values<int32_t>(
      run_op_single(
          {"Pow", {make_tensor<int32_t>({3}, {1, 2, 3}), make_tensor<float>({3}, {4, 5, 6})}}),
      {3}, {1, 32, 729});
  expect_values<Float16>(
      run_op_single({"Pow", {make_tensor<Float16>({2}, {2, -2}), make_tensor<uint8_t>({}, {3})}}),
      {2}, {8, -8});
  expect_values<double>(
      run_op_single({"Pow", {make_tensor<double>({1}, {2}), make_tensor<double>({1}, {-2})}}), {1},
      {0.25});
}

TEST(Pow, IntegersAreExactAndDefinedEverywhere) {
  const Tensor y =
      run_op_single({"Pow", {make_tensor<int64_t>({1}, {3}), make_tensor<int64_t>({1}, {39})}});
  ASSERT_FALSE(y.empty());
  EXPECT_EQ(y.data<int64_t>()[0], 4052555153018976267);
  expect_values<int32_t>(run_op_single({"Pow",
                                        {make_tensor<int32_t>({6}, {2, 0, 1, -1, -1, 0}),
                                         make_tensor<int32_t>({6}, {-1, -1, -5, -2, -3, 0})}}),
                         {6}, {0, 0, 1, 1, -1, 1});
}

TEST(Pow, BroadcastsAndTakesEmptyTensors) {
  expect_values<float>(
      run_op_single({"Pow", {make_tensor<float>({2, 1}, {2, 3}), make_tensor<float>({2}, {1, 2})}}),
      {2, 2}, {2, 4, 3, 9});
  expect_values<float>(
      run_op_single({"Pow", {make_tensor<float>({0, 2}, {}), make_tensor<float>({}, {2})}}), {0, 2},
      {});
}

TEST(Pow, RefusesOtherBases) {
  expect_op_error({"Pow", {make_tensor<uint8_t>({1}, {1}), make_tensor<uint8_t>({1}, {1})}},
                  "uint8");
  expect_op_error({"Pow", {make_tensor<float>({1}, {1}), make_tensor<bool>({1}, {1})}}, "bool");
}

}  // namespace
}  // namespace het::op_testing
