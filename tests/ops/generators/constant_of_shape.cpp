#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(ConstantOfShape, FillsWithTheValue) {
  expect_values<float>(run_op_single({"ConstantOfShape", {int64_tensor({2, 2})}}), {2, 2},
                       {0, 0, 0, 0});
  const auto filled = [](const Tensor& value, const Ints& shape) {
    return OpCall{"ConstantOfShape", {int64_tensor(shape)}, make_attributes({{"value", value}})};
  };
  expect_values<int32_t>(run_op_single(filled(make_ramp<int32_t>({1}, 5), {3})), {3}, {5, 5, 5});
  expect_values<bool>(run_op_single(filled(make_ramp<bool>({1}, 1), {})), {}, {1});
  expect_values<int64_t>(run_op_single(filled(make_ramp<int64_t>({1}, 5), {2, 0})), {2, 0}, {});
  expect_op_error(filled(make_ramp<float>({2}), {1}), "exactly one");
  expect_op_error(filled(make_ramp<float>({1}), {-1}), "negative");
  expect_op_error(filled(make_ramp<float>({1}), {INT64_MAX, 2}), "more elements");
}

}  // namespace
}  // namespace het::op_testing
