#include "tests/ops/op_testing.h"

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

}  // namespace
}  // namespace het::op_testing
