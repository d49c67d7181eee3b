#include "inference/ops/movement/reshape.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall reshape(const Shape& from, const Ints& to, bool allow_zero = false) {
  OpCall call{"Reshape", {make_ramp<float>(from), int64_tensor(to)}};
  if (allow_zero) call.attributes = make_attributes({{"allowzero", int64_t{1}}});
  return call;
}

TEST(Reshape, KeepsElementsInOrder) {
  expect_near(run_op_single(reshape({2, 3, 4}, {4, 6})), make_ramp<float>({4, 6}));
  expect_near(run_op_single(reshape({1}, {})), make_ramp<float>({}));
  expect_values<uint8_t>(
      run_op_single({"Reshape", {make_tensor<uint8_t>({3}, {7, 8, 9}), int64_tensor({3, 1})}}),
      {3, 1}, {7, 8, 9});
}

TEST(Reshape, ComputesAndCopiesDimensions) {
  expect_near(run_op_single(reshape({2, 3, 4}, {-1, 4})), make_ramp<float>({6, 4}));
  expect_near(run_op_single(reshape({2, 3, 4}, {0, -1})), make_ramp<float>({2, 12}));
  expect_near(run_op_single(reshape({2, 3, 4}, {0, 0, 1, 4})), make_ramp<float>({2, 3, 1, 4}));
}

TEST(Reshape, ZeroSizes) {
  expect_near(run_op_single(reshape({0, 3, 4}, {0, -1})), make_ramp<float>({0, 12}));
  expect_near(run_op_single(reshape({0, 3, 4}, {-1, 3, 4})), make_ramp<float>({0, 3, 4}));
  expect_near(run_op_single(reshape({0, 10}, {10, 0}, true)), make_ramp<float>({10, 0}));
  expect_op_error(reshape({0, 10}, {0, -1}, true), "can be anything");
}

TEST(Reshape, RefusesWhatDoesNotFit) {
  expect_op_error(reshape({2, 3}, {4, 2}), "6 elements, but 8");
  expect_op_error(reshape({2, 3}, {-1, -1}), "only one");
  expect_op_error(reshape({2, 3}, {-1, 4}), "whole rows");
  expect_op_error(reshape({2, 3}, {-2, 3}), "-1 or more");
  expect_op_error(reshape({2, 3}, {2, 3, 0}), "does not have");
  expect_op_error(reshape({2, 3}, {INT64_MAX, INT64_MAX}), "more elements");
  expect_op_error({"Reshape", {make_ramp<float>({2}), make_ramp<float>({1})}}, "float32");
  expect_op_error({"Reshape", {make_ramp<float>({2}), Tensor::from<int64_t>({1, 1}, {2})}}, "rank");
}

}  // namespace
}  // namespace het::op_testing
