#include "op_testing.h"

namespace het::op_testing {
namespace {

OpCall gather(const std::string& type, const Tensor& data, const Tensor& indices, int64_t axis) {
  return {type, {data, indices}, make_attributes({{"axis", axis}})};
}

TEST(Gather, RowsAndColumns) {
  const Tensor x = make_ramp<float>({3, 2});
  expect_values<float>(run_op_single(gather("Gather", x, int64_tensor({2, 0, -1}), 0)), {3, 2},
                       {4, 5, 0, 1, 4, 5});
  expect_values<float>(run_op_single(gather("Gather", x, int64_tensor({1}), -1)), {3, 1},
                       {1, 3, 5});
  expect_values<float>(run_op_single(gather("Gather", x, Tensor::scalar<int32_t>(1), 0)), {2},
                       {2, 3});
  expect_values<float>(run_op_single(gather("Gather", x, Tensor::from<int64_t>({1, 2}, {0, 1}), 0)),
                       {1, 2, 2}, {0, 1, 2, 3});
}

TEST(Gather, ZeroSizes) {
  expect_values<float>(
      run_op_single(gather("Gather", make_ramp<float>({3, 2}), int64_tensor({}), 0)), {0, 2}, {});
  expect_values<float>(
      run_op_single(gather("Gather", make_ramp<float>({0, 2}), int64_tensor({1}), 1)), {0, 1}, {});
  expect_op_error(gather("Gather", make_ramp<float>({0, 2}), int64_tensor({0}), 0), "index 0");
}

TEST(Gather, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({3, 2});
  expect_op_error(gather("Gather", x, int64_tensor({3}), 0), "index 3");
  expect_op_error(gather("Gather", x, int64_tensor({INT64_MIN}), 0), "index -9223372036854775808");
  expect_op_error(gather("Gather", x, int64_tensor({0}), 2), "axis 2");
  expect_op_error(gather("Gather", make_ramp<float>({}), int64_tensor({0}), 0), "axis 0");
  expect_op_error(gather("Gather", x, make_ramp<float>({1}), 0), "float32");
}

TEST(GatherElements, AlongAnAxis) {
  const Tensor x = make_tensor<float>({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_values<float>(run_op_single(gather("GatherElements", x,
                                            Tensor::from<int64_t>({2, 3}, {1, 2, 0, 2, 0, 0}), 0)),
                       {2, 3}, {4, 8, 3, 7, 2, 3});
  expect_values<float>(
      run_op_single(gather("GatherElements", x, Tensor::from<int32_t>({3, 1}, {-1, 0, 1}), 1)),
      {3, 1}, {3, 4, 8});
  expect_values<float>(
      run_op_single(gather("GatherElements", x, Tensor::from<int64_t>({0, 3}, {}), 0)), {0, 3}, {});
}

TEST(GatherElements, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  expect_op_error(gather("GatherElements", x, int64_tensor({0}), 0), "do not lie inside");
  expect_op_error(gather("GatherElements", x, Tensor::from<int64_t>({1, 3}, {0, 0, 0}), 0),
                  "do not lie inside");
  expect_op_error(gather("GatherElements", x, Tensor::from<int64_t>({1, 1}, {2}), 0), "index 2");
}

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
