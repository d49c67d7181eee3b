#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(NonZero, ListsCoordinates) {
  expect_values<int64_t>(run_op_single({"NonZero", {make_tensor<bool>({2, 2}, {1, 0, 1, 1})}}),
                         {2, 3}, {0, 1, 1, 0, 0, 1});
  expect_values<int64_t>(run_op_single({"NonZero", {make_tensor<float>({4}, {0, -0.0, 2, kNaN})}}),
                         {1, 2}, {2, 3});
  expect_values<int64_t>(run_op_single({"NonZero", {make_ramp<float>({2, 0})}}), {2, 0}, {});
  expect_values<int64_t>(run_op_single({"NonZero", {make_ramp<float>({}, 1)}}), {0, 1}, {});
}

}  // namespace
}  // namespace het::op_testing
