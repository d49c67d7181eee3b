#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall one_hot(const Tensor& indices, const Tensor& depth, const Tensor& values,
               int64_t axis = -1) {
  return {"OneHot", {indices, depth, values}, make_attributes({{"axis", axis}})};
}

TEST(OneHot, EveryAxis) {
  const Tensor values = make_tensor<float>({2}, {2, 5});
  const Tensor indices = int64_tensor({1, -1, 7});
  expect_values<float>(run_op_single(one_hot(indices, Tensor::scalar<int64_t>(3), values)), {3, 3},
                       {2, 5, 2, 2, 2, 5, 2, 2, 2});
  expect_values<float>(run_op_single(one_hot(indices, int64_tensor({3}), values, 0)), {3, 3},
                       {2, 2, 2, 5, 2, 2, 2, 5, 2});
  expect_values<uint8_t>(
      run_op_single(one_hot(make_tensor<float>({2, 1}, {0.9, 1}), make_tensor<float>({}, {2}),
                            make_tensor<uint8_t>({2}, {0, 1}), 1)),
      {2, 2, 1}, {1, 0, 0, 1});
}

TEST(OneHot, ZeroSizesAndRefusals) {
  const Tensor values = make_ramp<float>({2});
  expect_values<float>(run_op_single(one_hot(int64_tensor({}), int64_tensor({3}), values)), {0, 3},
                       {});
  expect_values<float>(run_op_single(one_hot(int64_tensor({1}), int64_tensor({0}), values)), {1, 0},
                       {});
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({-1}), values), "depth is -1");
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({1, 2}), values), "one number");
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({1}), make_ramp<float>({3})), "two");
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({1}), values, 2), "axis 2");
}

}  // namespace
}  // namespace het::op_testing
