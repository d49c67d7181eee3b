#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(ConvInteger, SumsDifferencesFromTheZeroPoints) {
  const Tensor x = make_tensor<uint8_t>({1, 1, 3, 3}, {2, 3, 4, 5, 6, 7, 8, 9, 10});
  const Tensor w = make_tensor<uint8_t>({1, 1, 2, 2}, {1, 1, 1, 1});
  const Tensor zero = Tensor::scalar<uint8_t>(1);
  expect_values<int32_t>(run_op_single({"ConvInteger", {x, w, zero}}), {1, 1, 2, 2},
                         {12, 16, 24, 28});
  expect_values<int32_t>(
      run_op_single({"ConvInteger", {x, w, zero}, make_attributes({{"pads", Ints{1, 1, 1, 1}}})}),
      {1, 1, 4, 4}, {1, 3, 5, 3, 5, 12, 16, 9, 11, 24, 28, 15, 7, 15, 17, 9});
}

TEST(ConvInteger, OneZeroPointForEachOutputChannel) {
  const Tensor x = make_tensor<uint8_t>({1, 1, 2}, {3, 5});
  const Tensor w = make_tensor<int8_t>({2, 1, 1}, {-1, 4});
  const Tensor zeros = make_tensor<int8_t>({2}, {1, -1});
  expect_values<int32_t>(run_op_single({"ConvInteger", {x, w, Tensor(), zeros}}), {1, 2, 2},
                         {-6, -10, 15, 25});
}

TEST(QLinearConv, ScalesTheExactSum) {
  const Tensor x = make_tensor<uint8_t>({1, 1, 2, 2}, {10, 20, 30, 40});
  const Tensor w = make_tensor<int8_t>({2, 1, 1, 1}, {2, -4});
  const Tensor bias = make_tensor<int32_t>({2}, {0, 100});
  // (x - 10) * w: 0 20 40 60 and 0 -40 -80 -120, the latter + 100; times 0.5 * scale / 0.25.
  const auto run = [&](const Tensor& w_scale) {
    return run_op_single(
        {"QLinearConv",
         {x, Tensor::scalar(0.5f), Tensor::scalar<uint8_t>(10), w, w_scale,
          make_tensor<int8_t>(w_scale.shape(), std::vector<double>(w_scale.rank() ? 2 : 1, 0)),
          Tensor::scalar(0.25f), Tensor::scalar<uint8_t>(3), bias}});
  };
  expect_values<uint8_t>(run(Tensor::scalar(0.5f)), {1, 2, 2, 2}, {3, 23, 43, 63, 103, 63, 23, 0});
  expect_values<uint8_t>(run(make_tensor<float>({2}, {0.5, 0.125})), {1, 2, 2, 2},
                         {3, 23, 43, 63, 28, 18, 8, 0});
}

TEST(QLinearConv, SaturatesAndRoundsHalvesToEven) {
  const Tensor x = make_tensor<int8_t>({1, 1, 4}, {127, -128, 1, 3});
  const Tensor w = make_tensor<int8_t>({1, 1, 1}, {1});
  const Tensor zero = Tensor::scalar<int8_t>(0);
  const auto run = [&](float y_scale) {
    return run_op_single({"QLinearConv",
                          {x, Tensor::scalar(1.0f), zero, w, Tensor::scalar(1.0f), zero,
                           Tensor::scalar(y_scale), zero}});
  };
  expect_values<int8_t>(run(0.5f), {1, 1, 4}, {127, -128, 2, 6});
  expect_values<int8_t>(run(2.0f), {1, 1, 4}, {64, -64, 0, 2});
}

TEST(QLinearConv, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<uint8_t>({1, 2, 2});
  const Tensor w = make_ramp<int8_t>({2, 2, 1});
  const Tensor s = Tensor::scalar(1.0f);
  const Tensor zx = Tensor::scalar<uint8_t>(0);
  const Tensor zw = Tensor::scalar<int8_t>(0);
  expect_op_error({"QLinearConv", {x, s, zw, w, s, zw, s, zx}}, "inputs 0 and 2 have types");
  expect_op_error({"QLinearConv", {x, s, zx, w, s, zx, s, zx}}, "inputs 3 and 5 have types");
  expect_op_error({"QLinearConv", {x, s, zx, w, make_ramp<float>({3}), zw, s, zx}},
                  "w_scale has shape [3], but must be one value or [2]");
  expect_op_error({"QLinearConv", {x, make_ramp<float>({2}), zx, w, s, zw, s, zx}},
                  "the scale in input 1 has shape [2]");
  expect_op_error({"QLinearConv", {x, s, zx, w, s, zw, s, zx, make_ramp<int32_t>({1})}},
                  "B has shape [1], but must be [2]");
  expect_op_error({"QLinearConv", {x, s, zx, w, s, zw, s, zx, make_ramp<float>({2})}},
                  "type float32 of input 8 'B'");
  expect_op_error({"QLinearConv", {x, s, zx, w, s, zw, s}}, "inputs");
  expect_op_error({"ConvInteger", {x, w, zw}}, "types uint8 and int8");
  expect_op_error({"ConvInteger", {x, w, make_ramp<uint8_t>({2})}}, "x_zero_point has shape [2]");
  expect_op_error({"ConvInteger", {make_ramp<float>({1, 2, 2}), w}}, "type float32");
}

}  // namespace
}  // namespace het::op_testing
