#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall concat(std::vector<Tensor> inputs, int64_t axis) {
  return {"Concat", std::move(inputs), make_attributes({{"axis", axis}})};
}

TEST(Concat, EveryAxis) {
  const Tensor a = make_ramp<float>({2, 2});
  const Tensor b = make_ramp<float>({2, 2}, 10);
  const std::vector<double> rows{0, 1, 2, 3, 10, 11, 12, 13};
  const std::vector<double> columns{0, 1, 10, 11, 2, 3, 12, 13};
  expect_values<float>(run_op_single(concat({a, b}, 0)), {4, 2}, rows);
  expect_values<float>(run_op_single(concat({a, b}, 1)), {2, 4}, columns);
  expect_values<float>(run_op_single(concat({a, b}, -1)), {2, 4}, columns);
  expect_values<float>(run_op_single(concat({a, b}, -2)), {4, 2}, rows);
}

TEST(Concat, DifferentLengthsAndTypes) {
  expect_values<int64_t>(
      run_op_single(concat({int64_tensor({1}), int64_tensor({2, 3}), int64_tensor({})}, 0)), {3},
      {1, 2, 3});
  expect_values<bool>(
      run_op_single(
          concat({make_tensor<bool>({2, 1}, {1, 0}), make_tensor<bool>({2, 2}, {0, 1, 1, 1})}, 1)),
      {2, 3}, {1, 0, 1, 0, 1, 1});
  expect_values<float>(run_op_single(concat({make_ramp<float>({1, 2})}, 0)), {1, 2}, {0, 1});
}

TEST(Concat, ZeroSizes) {
  expect_values<float>(
      run_op_single(concat({make_ramp<float>({0, 2}), make_ramp<float>({1, 2})}, 0)), {1, 2},
      {0, 1});
  expect_values<float>(
      run_op_single(concat({make_ramp<float>({0, 2}), make_ramp<float>({0, 3})}, 1)), {0, 5}, {});
}

TEST(Concat, RefusesWhatDoesNotFit) {
  const Tensor a = make_ramp<float>({2, 2});
  expect_op_error({"Concat", {a}}, "'axis'");
  expect_op_error(concat({a, make_ramp<float>({3, 2})}, 1), "[2,2] and [3,2]");
  expect_op_error(concat({a, make_ramp<float>({2})}, 0), "[2,2] and [2]");
  expect_op_error(concat({a, make_ramp<double>({2, 2})}, 0), "float32 and float64");
  expect_op_error(concat({a}, 2), "axis 2");
  expect_op_error(concat({make_ramp<float>({})}, 0), "axis 0");
  expect_op_error(concat({a, Tensor(), a}, 0), "input 1");
}

}  // namespace
}  // namespace het::op_testing
