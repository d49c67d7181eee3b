#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall microsoft(const std::string& type, std::vector<Tensor> inputs, Attributes attributes = {}) {
  return {type, std::move(inputs), std::move(attributes), 1, "com.microsoft"};
}

const float kHalf = 0.5f;

TEST(QLinearAdd, AddsRealValues) {
  const Tensor a = make_tensor<uint8_t>({2, 2}, {10, 12, 14, 255});  // 0 1 2 122.5
  const Tensor b = make_tensor<uint8_t>({2}, {0, 8});                // 0 2
  const Tensor zero = Tensor::scalar<uint8_t>(0);
  const Tensor y =
      run_op_single(microsoft("QLinearAdd", {a, Tensor::scalar(kHalf), Tensor::scalar<uint8_t>(10),
                                             b, Tensor::scalar(0.25f), zero, Tensor::scalar(0.25f),
                                             Tensor::scalar<uint8_t>(1)}));
  expect_values<uint8_t>(y, {2, 2}, {1, 13, 9, 255});
}

TEST(QLinearMul, MultipliesRealValues) {
  const Tensor a = make_tensor<int8_t>({3}, {-2, 3, 100});
  const Tensor y = run_op_single(microsoft(
      "QLinearMul", {a, Tensor::scalar(kHalf), Tensor::scalar<int8_t>(0), a, Tensor::scalar(1.0f),
                     Tensor::scalar<int8_t>(1), Tensor::scalar(1.0f), Tensor::scalar<int8_t>(-1)}));
  expect_values<int8_t>(y, {3}, {2, 2, 127});  // -1 * -3, 1.5 * 2, 50 * 99
}

TEST(QLinearUnary, SigmoidAndLeakyRelu) {
  const Tensor x = make_tensor<uint8_t>({3}, {128, 0, 255});
  const Tensor zero = Tensor::scalar<uint8_t>(128);
  expect_values<uint8_t>(run_op_single(microsoft("QLinearSigmoid", {x, Tensor::scalar(1.0f), zero,
                                                                    Tensor::scalar(1 / 256.0f),
                                                                    Tensor::scalar<uint8_t>(0)})),
                         {3}, {128, 0, 255});
  expect_values<uint8_t>(
      run_op_single(microsoft("QLinearLeakyRelu",
                              {x, Tensor::scalar(1.0f), zero, Tensor::scalar(2.0f), zero},
                              make_attributes({{"alpha", 0.25f}}))),
      {3}, {128, 112, 192});
}

TEST(QLinearPool, GlobalAverageInBothLayouts) {
  const Tensor first = make_tensor<uint8_t>({1, 2, 1, 2}, {10, 20, 30, 50});
  const Tensor last = make_tensor<uint8_t>({1, 1, 2, 2}, {10, 30, 20, 50});
  const std::vector<Tensor> scales{Tensor::scalar(1.0f), Tensor::scalar<uint8_t>(5),
                                   Tensor::scalar(kHalf), Tensor::scalar<uint8_t>(1)};
  const auto inputs = [&](const Tensor& x) {
    std::vector<Tensor> all{x};
    all.insert(all.end(), scales.begin(), scales.end());
    return all;
  };
  expect_values<uint8_t>(run_op_single(microsoft("QLinearGlobalAveragePool", inputs(first))),
                         {1, 2, 1, 1}, {21, 71});
  expect_values<uint8_t>(run_op_single(microsoft("QLinearGlobalAveragePool", inputs(last),
                                                 make_attributes({{"channels_last", 1}}))),
                         {1, 1, 1, 2}, {21, 71});
}

TEST(QLinearPool, AverageWithPadding) {
  const Tensor x = make_tensor<uint8_t>({1, 1, 3}, {12, 14, 20});  // 2 4 10
  const auto run = [&](int64_t include) {
    return run_op_single(microsoft(
        "QLinearAveragePool",
        {x, Tensor::scalar(1.0f), Tensor::scalar<uint8_t>(10), Tensor::scalar(1.0f),
         Tensor::scalar<uint8_t>(10)},
        make_attributes(
            {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}, {"count_include_pad", include}})));
  };
  expect_values<uint8_t>(run(0), {1, 1, 4}, {12, 13, 17, 20});
  expect_values<uint8_t>(run(1), {1, 1, 4}, {11, 13, 17, 15});
}

TEST(QLinearConcat, BringsEveryPartToTheOutputScale) {
  const Tensor a = make_tensor<uint8_t>({2, 1}, {10, 20});
  const Tensor b = make_tensor<uint8_t>({2, 2}, {1, 2, 3, 200});
  const Tensor zero = Tensor::scalar<uint8_t>(0);
  const Tensor y = run_op_single(
      microsoft("QLinearConcat",
                {Tensor::scalar(kHalf), Tensor::scalar<uint8_t>(3), a, Tensor::scalar(kHalf),
                 Tensor::scalar<uint8_t>(10), b, Tensor::scalar(1.0f), zero},
                make_attributes({{"axis", -1}})));
  expect_values<uint8_t>(y, {2, 3}, {3, 5, 7, 13, 9, 255});
}

TEST(QLinear, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<uint8_t>({1, 2, 2});
  const Tensor s = Tensor::scalar(1.0f);
  const Tensor z = Tensor::scalar<uint8_t>(0);
  const Tensor z8 = Tensor::scalar<int8_t>(0);
  expect_op_error(microsoft("QLinearAdd", {x, s, z, make_ramp<int8_t>({2}), s, z8, s, z}),
                  "inputs 0 and 3 have types uint8 and int8");
  expect_op_error(microsoft("QLinearAdd", {x, s, z, make_ramp<uint8_t>({3}), s, z, s, z}), "[3]");
  expect_op_error(microsoft("QLinearMul", {x, make_ramp<float>({2}), z, x, s, z, s, z}),
                  "the scale in input 1 has shape [2]");
  expect_op_error(microsoft("QLinearSigmoid", {make_ramp<float>({2}), s, z, s, z}), "type float32");
  expect_op_error(microsoft("QLinearGlobalAveragePool", {make_ramp<uint8_t>({2}), s, z, s, z}),
                  "rank must be 3 to 5");
  expect_op_error(microsoft("QLinearAveragePool", {x, s, z, s, z}), "attribute 'kernel_shape'");
  const Attributes axis = make_attributes({{"axis", 0}});
  expect_op_error(microsoft("QLinearConcat", {s, z, x, s, z}), "attribute 'axis'");
  expect_op_error(microsoft("QLinearConcat", {s, z, x, s, z, x}, axis), "6 inputs are given");
  expect_op_error(
      microsoft("QLinearConcat", {s, z, x, s, z, make_ramp<uint8_t>({1, 3, 2}), s, z}, axis),
      "do not join along axis 0");
}

}  // namespace
}  // namespace het::op_testing
