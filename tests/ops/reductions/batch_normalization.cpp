#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class T>
class BatchNormalizationTypes : public ::testing::Test {};
using Floats4 = ::testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(BatchNormalizationTypes, Floats4);

TYPED_TEST(BatchNormalizationTypes, ShiftsAndScalesEachChannel) {
  const Tensor x = make_tensor<TypeParam>({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  const Tensor scale = make_tensor<TypeParam>({2}, {2, 1});
  const Tensor bias = make_tensor<TypeParam>({2}, {0, 10});
  const Tensor mean = make_tensor<float>({2}, {1, 3});
  const Tensor variance = make_tensor<float>({2}, {4, 0.25});
  // channel 0: x - 1, channel 1: (x - 3) * 2 + 10
  expect_values<TypeParam>(run_op_single({"BatchNormalization",
                                          {x, scale, bias, mean, variance},
                                          make_attributes({{"epsilon", 0.0f}})}),
                           {2, 2, 2}, {-1, 0, 8, 10, 3, 4, 16, 18});
}

TEST(BatchNormalization, EpsilonKeepsAZeroVarianceFinite) {
  const Tensor one = make_tensor<float>({1}, {1});
  const Tensor zero = make_tensor<float>({1}, {0});
  expect_values<float>(run_op_single({"BatchNormalization",
                                      {make_tensor<float>({1, 1, 1}, {2}), one, zero, zero, zero},
                                      make_attributes({{"epsilon", 0.25f}})}),
                       {1, 1, 1}, {4});
}

TEST(BatchNormalization, WithoutAChannelDimensionThereIsOneChannel) {
  const Tensor one = make_tensor<float>({1}, {1});
  const Tensor zero = make_tensor<float>({1}, {0});
  expect_values<float>(run_op_single({"BatchNormalization",
                                      {make_tensor<float>({3}, {1, 2, 3}), one, one, zero, one},
                                      make_attributes({{"epsilon", 0.0f}})}),
                       {3}, {2, 3, 4});
}

TEST(BatchNormalization, TrainingModeUsesTheMomentsOfTheData) {
  const Tensor x = make_tensor<float>({2, 1, 2}, {1, 3, 5, 7});  // mean 4, variance 5
  const Tensor scale = make_tensor<float>({1}, {1});
  const Tensor bias = make_tensor<float>({1}, {0});
  const Tensor mean = make_tensor<float>({1}, {2});
  const Tensor variance = make_tensor<float>({1}, {1});
  const auto y =
      run_op_ok({"BatchNormalization",
                 {x, scale, bias, mean, variance},
                 make_attributes({{"epsilon", 0.0f}, {"momentum", 0.75f}, {"training_mode", 1}}),
                 3});
  const double root = std::sqrt(5.0);
  expect_values<float>(y[0], {2, 1, 2}, {-3 / root, -1 / root, 1 / root, 3 / root});
  expect_values<float>(y[1], {1}, {2.5});
  expect_values<float>(y[2], {1}, {2});
}

TEST(BatchNormalization, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({1, 2, 2});
  const Tensor good = make_ramp<float>({2});
  const Tensor bad = make_ramp<float>({3});
  expect_op_error({"BatchNormalization", {x, bad, good, good, good}}, "scale has shape [3]");
  expect_op_error({"BatchNormalization", {x, good, good, good, bad}}, "input_var has shape [3]");
  expect_op_error({"BatchNormalization", {x, good, good, good}}, "inputs");
  expect_op_error({"BatchNormalization", {Tensor::scalar(1.0f), good, good, good, good}},
                  "rank must be at least 1");
  expect_op_error({"BatchNormalization", {x, good, good, good, good}, {}, 3},
                  "3 outputs are asked for");
  expect_op_error(
      {"BatchNormalization", {x, good, good, good, good}, make_attributes({{"epsilon", 1}})},
      "attribute 'epsilon' is an int");
}

}  // namespace
}  // namespace het::op_testing
