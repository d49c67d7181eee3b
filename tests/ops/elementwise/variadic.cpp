#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Variadic, ThreeInputs) {
  const std::vector<Tensor> inputs{make_tensor<float>({3}, {3, 2, 1}),
                                   make_tensor<float>({3}, {1, 4, 4}),
                                   make_tensor<float>({3}, {2, 5, -3})};
  expect_values<float>(run_op_single({"Max", inputs}), {3}, {3, 5, 4});
  expect_values<float>(run_op_single({"Min", inputs}), {3}, {1, 2, -3});
  expect_values<float>(run_op_single({"Sum", inputs}), {3}, {6, 11, 2});
  expect_values<float>(run_op_single({"Mean", inputs}), {3}, {2, 11.0 / 3, 2.0 / 3});
}

TEST(Variadic, OneInputPasses) {
  for (const char* type : {"Max", "Min", "Sum", "Mean"}) {
    SCOPED_TRACE(type);
    expect_values<double>(run_op_single({type, {make_tensor<double>({2}, {1, -2})}}), {2}, {1, -2});
  }
}

TEST(Variadic, HalfSumsAreRoundedOnce) {
  // 2048 + 1 is not a half; rounding after every addition would stay at 2048.
  const Tensor one = make_tensor<Float16>({1}, {1});
  expect_values<Float16>(run_op_single({"Sum", {make_tensor<Float16>({1}, {2048}), one, one}}), {1},
                         {2050}, 0);
}

TEST(Variadic, BroadcastsAllInputs) {
  expect_values<int32_t>(
      run_op_single({"Max",
                     {make_tensor<int32_t>({2, 1}, {1, 5}), make_tensor<int32_t>({3}, {0, 3, 9}),
                      make_tensor<int32_t>({}, {2})}}),
      {2, 3}, {2, 3, 9, 5, 5, 9});
  expect_values<float>(
      run_op_single({"Sum", {make_tensor<float>({1, 0}, {}), make_tensor<float>({2, 1}, {1, 2})}}),
      {2, 0}, {});
}

TEST(Variadic, NaNWins) {
  const Tensor a = make_tensor<float>({2}, {kNaN, 1});
  const Tensor b = make_tensor<float>({2}, {1, kNaN});
  expect_values<float>(run_op_single({"Max", {a, b}}), {2}, {kNaN, kNaN});
  expect_values<float>(run_op_single({"Min", {a, b}}), {2}, {kNaN, kNaN});
}

TEST(Variadic, RefusesWhatDoesNotFit) {
  const Tensor a = make_tensor<float>({2}, {1, 2});
  expect_op_error({"Sum", {a, make_tensor<float>({3}, {1, 2, 3})}}, "[2] and [3]");
  expect_op_error({"Max", {a, make_tensor<double>({2}, {1, 2})}}, "float32 and float64");
  expect_op_error({"Sum", {make_tensor<int32_t>({1}, {1})}}, "int32");
  expect_op_error({"Max", {}}, "has 0 inputs");
}

}  // namespace
}  // namespace het::op_testing
