#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(LpNormalization, DividesByTheNorm) {
  const Tensor x = make_tensor<float>({2, 2}, {3, -4, 0, 0});
  expect_values<float>(run_op_single({"LpNormalization", {x}}), {2, 2}, {0.6, -0.8, 0, 0});
  expect_values<float>(
      run_op_single({"LpNormalization", {x}, make_attributes({{"p", 1}, {"axis", 0}})}), {2, 2},
      {1, -1, 0, 0});
}

TEST(LpNormalization, OtherTypes) {
  const auto run = [&]<class T>() {
    const Tensor y = run_op_single(
        {"LpNormalization", {make_tensor<T>({4}, {1, 1, 1, 1})}, make_attributes({{"p", 1}})});
    expect_values<T>(y, {4}, {0.25, 0.25, 0.25, 0.25});
  };
  run.template operator()<double>();
  run.template operator()<Float16>();
  run.template operator()<BFloat16>();
}

TEST(LpNormalization, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  expect_op_error({"LpNormalization", {x}, make_attributes({{"p", 3}})}, "p is 3");
  expect_op_error({"LpNormalization", {x}, make_attributes({{"axis", -3}})}, "axis");
  expect_op_error({"LpNormalization", {Tensor::scalar(1.0f)}}, "axis");
}

}  // namespace
}  // namespace het::op_testing
