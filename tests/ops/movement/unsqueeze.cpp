#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Unsqueeze, InsertsDimensions) {
  const Tensor x = make_ramp<float>({3, 4});
  expect_near(run_op_single({"Unsqueeze", {x, int64_tensor({0})}}), make_ramp<float>({1, 3, 4}));
  expect_near(run_op_single({"Unsqueeze", {x, int64_tensor({-1, 1})}}),
              make_ramp<float>({3, 1, 4, 1}));
  expect_near(run_op_single({"Unsqueeze", {make_ramp<float>({}), int64_tensor({0})}}),
              make_ramp<float>({1}));
  expect_near(run_op_single({"Unsqueeze", {make_ramp<float>({0}), int64_tensor({1})}}),
              make_ramp<float>({0, 1}));
  expect_op_error({"Unsqueeze", {x, int64_tensor({3})}}, "axis 3");
  expect_op_error({"Unsqueeze", {x, int64_tensor({0, -4})}}, "twice");
  expect_op_error({"Unsqueeze", {x, int64_tensor(Ints(100, 0))}}, "at most");
}

}  // namespace
}  // namespace het::op_testing
