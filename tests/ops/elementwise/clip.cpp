#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

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

}  // namespace
}  // namespace het::op_testing
