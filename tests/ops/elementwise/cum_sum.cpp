#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor run_cum_sum(const Tensor& x, int64_t axis, int64_t exclusive = 0, int64_t reverse = 0) {
  return run_op_single({"CumSum",
                        {x, Tensor::scalar(axis)},
                        make_attributes({{"exclusive", exclusive}, {"reverse", reverse}})});
}

TEST(CumSum, AlongEachAxis) {
  const Tensor x = make_ramp<float>({2, 3}, 1);
  expect_values<float>(run_cum_sum(x, 0), {2, 3}, {1, 2, 3, 5, 7, 9});
  expect_values<float>(run_cum_sum(x, 1), {2, 3}, {1, 3, 6, 4, 9, 15});
  expect_values<float>(run_cum_sum(x, -2), {2, 3}, {1, 2, 3, 5, 7, 9});
}

TEST(CumSum, ExclusiveAndReverse) {
  const Tensor x = make_ramp<double>({4}, 1);
  expect_values<double>(run_cum_sum(x, 0, 1), {4}, {0, 1, 3, 6});
  expect_values<double>(run_cum_sum(x, 0, 0, 1), {4}, {10, 9, 7, 4});
  expect_values<double>(run_cum_sum(x, 0, 1, 1), {4}, {9, 7, 4, 0});
}

TEST(CumSum, IntegersWrapAround) {
  const Tensor x = make_tensor<int32_t>({2}, {2147483647, 1});
  expect_values<int32_t>(run_cum_sum(x, 0), {2}, {2147483647, -2147483648.0});
}

TEST(CumSum, TakesEmptyTensors) {
  expect_values<float>(run_cum_sum(make_tensor<float>({3, 0}, {}), 0), {3, 0}, {});
}

TEST(CumSum, RefusesBadInput) {
  const Tensor x = make_ramp<float>({2, 3});
  expect_op_error({"CumSum", {x, Tensor::scalar<int64_t>(2)}}, "axis");
  expect_op_error({"CumSum", {x, int64_tensor({0, 1})}}, "axis has 2 values");
  expect_op_error({"CumSum", {x, Tensor::scalar(1.0f)}}, "float32");
  expect_op_error({"CumSum", {make_ramp<int8_t>({2}), Tensor::scalar<int64_t>(0)}}, "int8");
}

TEST(CumProd, InclusiveExclusiveAndReverse) {
  const auto run = [](int64_t exclusive, int64_t reverse) {
    return run_op_single({"CumProd",
                          {make_ramp<int32_t>({3}, 2), Tensor::scalar<int64_t>(0)},
                          make_attributes({{"exclusive", exclusive}, {"reverse", reverse}})});
  };
  expect_values<int32_t>(run(0, 0), {3}, {2, 6, 24});
  expect_values<int32_t>(run(1, 0), {3}, {1, 2, 6});
  expect_values<int32_t>(run(0, 1), {3}, {24, 12, 4});
  expect_values<int32_t>(run(1, 1), {3}, {12, 4, 1});
}

}  // namespace
}  // namespace het::op_testing
