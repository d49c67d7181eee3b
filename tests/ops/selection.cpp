#include <limits>

#include "op_testing.h"

/// Clip and Where.
namespace het::op_testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

TEST(Clip, BothOneOrNoBound) {
  const Tensor x = make_tensor<float>({3}, {-2, 0, 2});
  expect_values<float>(run_op_single({"Clip", {x, Tensor::scalar(-1.0f), Tensor::scalar(1.0f)}}),
                       {3}, {-1, 0, 1});
  expect_values<float>(run_op_single({"Clip", {x, Tensor::scalar(-1.0f)}}), {3}, {-1, 0, 2});
  expect_values<float>(run_op_single({"Clip", {x, Tensor(), Tensor::scalar(1.0f)}}), {3},
                       {-2, 0, 1});
  expect_values<float>(run_op_single({"Clip", {x}}), {3}, {-2, 0, 2});
  expect_values<int8_t>(run_op_single({"Clip",
                                       {make_tensor<int8_t>({2}, {-100, 100}),
                                        Tensor::scalar<int8_t>(-5), Tensor::scalar<int8_t>(5)}}),
                        {2}, {-5, 5});
  expect_values<Float16>(
      run_op_single({"Clip",
                     {make_tensor<Float16>({2}, {-1, 9}), make_tensor<Float16>({1}, {0}),
                      make_tensor<Float16>({1}, {6})}}),
      {2}, {0, 6});
}

TEST(Clip, CrossedBoundsAndNaN) {
  expect_values<float>(run_op_single({"Clip",
                                      {make_tensor<float>({2}, {0, kNaN}), Tensor::scalar(2.0f),
                                       Tensor::scalar(1.0f)}}),
                       {2}, {1, kNaN});
}

TEST(Clip, ZeroSizesAndRefusals) {
  const Tensor x = make_ramp<float>({2});
  expect_values<float>(run_op_single({"Clip", {make_ramp<float>({0}), Tensor::scalar(0.0f)}}), {0},
                       {});
  expect_op_error({"Clip", {x, Tensor::scalar(1.0)}}, "float32 and float64");
  expect_op_error({"Clip", {x, make_ramp<float>({2})}}, "scalar");
  expect_op_error({"Clip", {make_tensor<bool>({1}, {1})}}, "bool");
}

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
