#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Squeeze, GivenAxesOrAllOfOne) {
  const Tensor x = make_ramp<float>({1, 3, 1, 2});
  expect_near(run_op_single({"Squeeze", {x}}), make_ramp<float>({3, 2}));
  expect_near(run_op_single({"Squeeze", {x, int64_tensor({0})}}), make_ramp<float>({3, 1, 2}));
  expect_near(run_op_single({"Squeeze", {x, int64_tensor({-2})}}), make_ramp<float>({1, 3, 2}));
  expect_near(run_op_single({"Squeeze", {x, int64_tensor({})}}), make_ramp<float>({1, 3, 1, 2}));
  expect_near(run_op_single({"Squeeze", {make_ramp<float>({1, 0})}}), make_ramp<float>({0}));
}

TEST(Squeeze, RefusesOtherAxes) {
  const Tensor x = make_ramp<float>({1, 3});
  expect_op_error({"Squeeze", {x, int64_tensor({1})}}, "not 1");
  expect_op_error({"Squeeze", {x, int64_tensor({2})}}, "axis 2");
  expect_op_error({"Squeeze", {x, int64_tensor({0, -2})}}, "twice");
}

}  // namespace
}  // namespace het::op_testing
