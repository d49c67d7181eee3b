#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall expand(const Tensor& x, const Ints& shape) {
  return {"Expand", {x, int64_tensor(shape)}};
}

TEST(Expand, BroadcastsBothWays) {
  const Tensor column = make_ramp<float>({2, 1});
  expect_values<float>(run_op_single(expand(column, {3})), {2, 3}, {0, 0, 0, 1, 1, 1});
  expect_values<float>(run_op_single(expand(column, {1, 1})), {2, 1}, {0, 1});
  expect_values<float>(run_op_single(expand(column, {2, 1, 2})), {2, 2, 2},
                       {0, 0, 1, 1, 0, 0, 1, 1});
  expect_values<uint8_t>(run_op_single(expand(make_ramp<uint8_t>({}, 7), {2, 2})), {2, 2},
                         {7, 7, 7, 7});
}

TEST(Expand, ZeroSizesAndRefusals) {
  expect_values<float>(run_op_single(expand(make_ramp<float>({2, 1}), {0})), {2, 0}, {});
  expect_values<float>(run_op_single(expand(make_ramp<float>({1}), {})), {1}, {0});
  expect_op_error(expand(make_ramp<float>({2}), {3}), "[2] and [3]");
  expect_op_error(expand(make_ramp<float>({2}), {-1}), "negative");
  expect_op_error(expand(make_ramp<float>({1}), {INT64_MAX, INT64_MAX}), "more elements");
  // 2^30 + 1 floats are 4 bytes more than one output may have.
  expect_op_error(expand(make_ramp<float>({1}), {(int64_t{1} << 30) + 1}),
                  "4294967300 bytes; one output may have 4294967296");
}

}  // namespace
}  // namespace het::op_testing
