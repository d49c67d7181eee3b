#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Where, ChoosesWithBroadcasting) {
  const Tensor condition = make_tensor<bool>({2, 1}, {1, 0});
  expect_values<float>(
      run_op_single({"Where", {condition, make_ramp<float>({3}), Tensor::scalar(9.0f)}}), {2, 3},
      {0, 1, 2, 9, 9, 9});
  expect_values<int64_t>(
      run_op_single({"Where", {Tensor::scalar(false), int64_tensor({1, 2}), int64_tensor({3, 4})}}),
      {2}, {3, 4});
  expect_values<uint8_t>(
      run_op_single({"Where",
                     {make_tensor<bool>({2}, {0, 1}), make_tensor<uint8_t>({2}, {1, 2}),
                      make_tensor<uint8_t>({2}, {3, 4})}}),
      {2}, {3, 2});
  expect_values<float>(
      run_op_single({"Where", {condition, make_ramp<float>({0}), Tensor::scalar(9.0f)}}), {2, 0},
      {});
}

TEST(Where, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2});
  expect_op_error({"Where", {x, x, x}}, "float32");
  expect_op_error({"Where", {Tensor::scalar(true), x, make_ramp<double>({2})}},
                  "float32 and float64");
  expect_op_error({"Where", {make_tensor<bool>({3}, {1, 1, 1}), x, x}}, "[3] and [2]");
}

}  // namespace
}  // namespace het::op_testing
