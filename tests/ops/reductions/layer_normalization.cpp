#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

const Attributes kExact = make_attributes({{"epsilon", 0.0f}});

TEST(LayerNormalization, NormalisesTheLastDimensions) {
  const Tensor x = make_tensor<float>({2, 2}, {1, 3, 10, 50});
  const Tensor scale = make_tensor<float>({2}, {1, 2});
  const Tensor bias = make_tensor<float>({2}, {0, 5});
  const auto y = run_op_ok({"LayerNormalization", {x, scale, bias}, kExact, 3});
  expect_values<float>(y[0], {2, 2}, {-1, 7, -1, 7});
  expect_values<float>(y[1], {2, 1}, {2, 30});
  expect_values<float>(y[2], {2, 1}, {1, 0.05});
}

TEST(LayerNormalization, TheAxisStartsTheNormalisedPart) {
  const Tensor x = make_tensor<float>({1, 2, 2}, {1, 3, 1, 3});
  const Tensor scale = make_tensor<float>({2, 1}, {1, 10});
  const auto y = run_op_ok(
      {"LayerNormalization", {x, scale}, make_attributes({{"epsilon", 0.0f}, {"axis", -2}}), 2});
  expect_values<float>(y[0], {1, 2, 2}, {-1, 1, -10, 10});
  expect_values<float>(y[1], {1, 1, 1}, {2});
}

TEST(LayerNormalization, HalfTypesKeepTheirStatisticsInFloat) {
  const auto run = [&]<class T>() {
    const Tensor x = make_tensor<T>({1, 2}, {1, 3});
    const auto y = run_op_ok({"LayerNormalization", {x, make_tensor<T>({2}, {1, 1})}, kExact, 3});
    expect_values<T>(y[0], {1, 2}, {-1, 1});
    expect_values<float>(y[1], {1, 1}, {2});
  };
  run.template operator()<Float16>();
  run.template operator()<BFloat16>();
  run.template operator()<double>();
}

TEST(RmsNormalization, DividesByTheRootMeanSquare) {
  const Tensor x = make_tensor<float>({1, 2}, {1, 7});  // root mean square 5
  const Tensor scale = make_tensor<float>({2}, {5, 10});
  expect_values<float>(run_op_single({"RMSNormalization", {x, scale}, kExact}), {1, 2}, {1, 14});
}

TEST(LayerNormalization, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  const Tensor scale = make_ramp<float>({2});
  expect_op_error({"LayerNormalization", {x, make_ramp<float>({3})}}, "Scale has shape [3]");
  expect_op_error({"LayerNormalization", {x, make_ramp<float>({1, 2, 2})}}, "Scale has shape");
  expect_op_error({"LayerNormalization", {x, scale, make_ramp<float>({3})}}, "B has shape [3]");
  expect_op_error({"LayerNormalization", {x, scale}, make_attributes({{"axis", 2}})}, "axis");
  expect_op_error({"LayerNormalization", {x, scale}, make_attributes({{"stash_type", 7}}), 2},
                  "stash_type is int64");
  expect_op_error({"LayerNormalization", {make_ramp<int32_t>({2}), scale}}, "type int32");
}

}  // namespace
}  // namespace het::op_testing
