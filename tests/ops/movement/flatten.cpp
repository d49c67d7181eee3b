#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall with_axis(const std::string& type, const Shape& shape, int64_t axis) {
  return {type, {make_ramp<float>(shape)}, make_attributes({{"axis", axis}})};
}

TEST(Flatten, EveryAxis) {
  expect_near(run_op_single({"Flatten", {make_ramp<float>({2, 3, 4})}}), make_ramp<float>({2, 12}));
  expect_near(run_op_single(with_axis("Flatten", {2, 3, 4}, 0)), make_ramp<float>({1, 24}));
  expect_near(run_op_single(with_axis("Flatten", {2, 3, 4}, 3)), make_ramp<float>({24, 1}));
  expect_near(run_op_single(with_axis("Flatten", {2, 3, 4}, -1)), make_ramp<float>({6, 4}));
  expect_near(run_op_single(with_axis("Flatten", {}, 0)), make_ramp<float>({1, 1}));
  expect_near(run_op_single(with_axis("Flatten", {2, 0, 4}, 2)), make_ramp<float>({0, 4}));
  expect_op_error(with_axis("Flatten", {2, 3}, 3), "axis 3");
  expect_op_error(with_axis("Flatten", {2, 3}, -3), "axis -3");
}

}  // namespace
}  // namespace het::op_testing
