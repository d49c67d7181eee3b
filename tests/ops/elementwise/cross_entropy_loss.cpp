#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Attributes reduction(const char* name) {
  return make_attributes({{"reduction", name}});
}

TEST(NegativeLogLikelihoodLoss, TakesTheScoreOfEachLabel) {
  const Tensor x = make_tensor<float>({2, 3}, {-1, -2, -3, -4, -5, -6});
  const Tensor labels = int64_tensor({0, 2});
  expect_values<float>(run_op_single({"NegativeLogLikelihoodLoss", {x, labels}, reduction("none")}),
                       {2}, {1, 6});
  expect_values<float>(run_op_single({"NegativeLogLikelihoodLoss", {x, labels}, reduction("sum")}),
                       {}, {7});
  expect_values<float>(run_op_single({"NegativeLogLikelihoodLoss", {x, labels}}), {}, {3.5});
}

TEST(NegativeLogLikelihoodLoss, WeightsAndIgnoredLabels) {
  const Tensor x = make_tensor<float>({1, 2, 3}, {-1, -2, -3, -4, -5, -6});
  const Tensor labels = make_tensor<int32_t>({1, 3}, {0, 1, 7});
  const Tensor weights = make_tensor<float>({2}, {3, 1});
  const auto run = [&](const char* name) {
    return run_op_single({"NegativeLogLikelihoodLoss",
                          {x, labels, weights},
                          make_attributes({{"reduction", name}, {"ignore_index", 7}})});
  };
  expect_values<float>(run("none"), {1, 3}, {3, 5, 0});
  expect_values<float>(run("mean"), {}, {2});
}

TEST(SoftmaxCrossEntropyLoss, NormalisesTheScoresFirst) {
  const double log3 = std::log(3.0);
  const Tensor x = make_tensor<float>({2, 2}, {0, log3, 5, 5});
  const auto y =
      run_op_ok({"SoftmaxCrossEntropyLoss", {x, int64_tensor({0, 1})}, reduction("none"), 2});
  expect_values<float>(y[0], {2}, {std::log(4.0), std::log(2.0)});
  expect_values<float>(y[1], {2, 2},
                       {-std::log(4.0), log3 - std::log(4.0), -std::log(2.0), -std::log(2.0)});
  expect_values<double>(
      run_op_single(
          {"SoftmaxCrossEntropyLoss", {make_tensor<double>({1, 2}, {0, log3}), int64_tensor({1})}}),
      {}, {std::log(4.0) - log3});
}

TEST(CrossEntropyLoss, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 3});
  const Tensor labels = int64_tensor({0, 1});
  for (const char* type : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    expect_op_error({type, {x, int64_tensor({0, 3})}}, "label 3 is outside [0, 3)");
    expect_op_error({type, {x, int64_tensor({0})}}, "labels have shape [1]");
    expect_op_error({type, {x, labels, make_ramp<float>({2})}}, "weights have shape [2]");
    expect_op_error({type, {x, labels}, reduction("max")}, "reduction is 'max'");
    expect_op_error({type, {make_ramp<float>({2}), labels}}, "rank must be at least 2");
  }
}

}  // namespace
}  // namespace het::op_testing
