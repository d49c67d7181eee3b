#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall gather_nd(const Tensor& data, const Tensor& indices, int64_t batch_dims = 0) {
  return {"GatherND", {data, indices}, make_attributes({{"batch_dims", batch_dims}})};
}

TEST(GatherND, ElementsAndSlices) {
  const Tensor x = make_ramp<float>({2, 2, 2});
  expect_values<float>(run_op_single(gather_nd(make_ramp<float>({2, 2}),
                                               Tensor::from<int64_t>({2, 2}, {0, 0, 1, 1}))),
                       {2}, {0, 3});
  expect_values<float>(run_op_single(gather_nd(x, Tensor::from<int64_t>({2, 1}, {1, -2}))),
                       {2, 2, 2}, {4, 5, 6, 7, 0, 1, 2, 3});
  expect_values<float>(run_op_single(gather_nd(x, Tensor::from<int64_t>({2, 1, 2}, {0, 1, 1, 0}))),
                       {2, 1, 2}, {2, 3, 4, 5});
}

TEST(GatherND, BatchDimensions) {
  expect_values<float>(run_op_single(gather_nd(make_ramp<float>({2, 2, 2}),
                                               Tensor::from<int64_t>({2, 1}, {1, 0}), 1)),
                       {2, 2}, {2, 3, 4, 5});
}

TEST(GatherND, ZeroSizes) {
  expect_values<float>(
      run_op_single(gather_nd(make_ramp<float>({2, 2}), Tensor::from<int64_t>({0, 1}, {}))), {0, 2},
      {});
  expect_values<float>(
      run_op_single(gather_nd(make_ramp<float>({2}), Tensor::from<int64_t>({3, 0}, {}))), {3, 2},
      {0, 1, 0, 1, 0, 1});
}

TEST(GatherND, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  expect_op_error(gather_nd(x, Tensor::from<int64_t>({1, 3}, {0, 0, 0})), "tuples of 3");
  expect_op_error(gather_nd(x, Tensor::from<int64_t>({1, 2}, {0, 2})), "index 2");
  expect_op_error(gather_nd(x, Tensor::from<int64_t>({3, 1}, {0, 0, 0}), 1), "batch_dims 1");
  expect_op_error(gather_nd(x, Tensor::from<int64_t>({1, 2}, {0, 0}), -1), "batch_dims -1");
  expect_op_error(gather_nd(x, Tensor::scalar<int64_t>(0)), "rank");
}

}  // namespace
}  // namespace het::op_testing
