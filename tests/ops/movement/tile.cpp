#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall tile(const Tensor& x, const Ints& repeats) {
  return {"Tile", {x, int64_tensor(repeats)}};
}

TEST(Tile, RepeatsEveryDimension) {
  const Tensor x = make_tensor<float>({2, 2}, {1, 2, 3, 4});
  expect_values<float>(run_op_single(tile(x, {1, 2})), {2, 4}, {1, 2, 1, 2, 3, 4, 3, 4});
  expect_values<float>(run_op_single(tile(x, {2, 1})), {4, 2}, {1, 2, 3, 4, 1, 2, 3, 4});
  expect_values<float>(run_op_single(tile(x, {2, 2})), {4, 4},
                       {1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4});
  expect_values<bool>(run_op_single(tile(make_tensor<bool>({1}, {1}), {3})), {3}, {1, 1, 1});
}

TEST(Tile, ZeroSizesAndRefusals) {
  expect_values<float>(run_op_single(tile(make_ramp<float>({2, 2}), {0, 1})), {0, 2}, {});
  expect_values<float>(run_op_single(tile(make_ramp<float>({0, 2}), {3, 1})), {0, 2}, {});
  expect_near(run_op_single(tile(make_ramp<float>({}, 3), {})), make_ramp<float>({}, 3));
  expect_op_error(tile(make_ramp<float>({2, 2}), {2}), "one entry");
  expect_op_error(tile(make_ramp<float>({2}), {-1}), "one entry");
  expect_op_error(tile(make_ramp<float>({4}), {INT64_MAX}), "one entry");
}

}  // namespace
}  // namespace het::op_testing
