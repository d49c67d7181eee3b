#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class T>
OpCall range(double start, double limit, double delta) {
  return {"Range",
          {make_tensor<T>({}, {start}), make_tensor<T>({}, {limit}), make_tensor<T>({}, {delta})}};
}

TEST(Range, CountsUpAndDown) {
  expect_values<int32_t>(run_op_single(range<int32_t>(3, 9, 3)), {2}, {3, 6});
  expect_values<int64_t>(run_op_single(range<int64_t>(10, 4, -2)), {3}, {10, 8, 6});
  expect_values<int16_t>(run_op_single(range<int16_t>(-2, 3, 2)), {3}, {-2, 0, 2});
  expect_values<float>(run_op_single(range<float>(1, 2.2, 0.5)), {3}, {1, 1.5, 2});
  expect_values<double>(run_op_single(range<double>(0, -1, -0.25)), {4}, {0, -0.25, -0.5, -0.75});
  expect_values<BFloat16>(run_op_single(range<BFloat16>(0, 300, 100)), {3}, {0, 100, 200}, 0);
}

TEST(Range, EmptyAndRefused) {
  expect_values<int32_t>(run_op_single(range<int32_t>(5, 5, 1)), {0}, {});
  expect_values<float>(run_op_single(range<float>(5, 1, 1)), {0}, {});
  expect_op_error(range<int32_t>(0, 1, 0), "never end");
  expect_op_error(range<float>(0, 1, std::nan("")), "never end");
  expect_op_error(range<double>(0, 1e300, 1e-300), "too long");
  expect_op_error({"Range",
                   {Tensor::scalar<int64_t>(INT64_MIN), Tensor::scalar<int64_t>(INT64_MAX),
                    Tensor::scalar<int64_t>(1)}},
                  "too long");
  expect_op_error(
      {"Range",
       {Tensor::scalar<uint8_t>(0), Tensor::scalar<uint8_t>(1), Tensor::scalar<uint8_t>(1)}},
      "uint8");
  expect_op_error({"Range", {make_ramp<float>({2}), Tensor::scalar(1.0f), Tensor::scalar(1.0f)}},
                  "scalar");
}

}  // namespace
}  // namespace het::op_testing
