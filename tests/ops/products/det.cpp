#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Det, MatricesAndBatches) {
  expect_values<float>(run_op_single({"Det", {make_tensor<float>({2, 2}, {0, 1, 2, 3})}}), {},
                       {-2});
  expect_values<double>(
      run_op_single(
          {"Det", {make_tensor<double>({3, 2, 2}, {1, 2, 3, 4, 1, 2, 2, 1, 1, 2, 2, 4})}}),
      {3}, {-2, -3, 0});
  expect_values<float>(run_op_single({"Det", {make_ramp<float>({2, 0, 0})}}), {2}, {1, 1});
  expect_op_error({"Det", {make_ramp<float>({2, 3})}}, "not square");
  expect_op_error({"Det", {make_ramp<float>({2})}}, "rank");
}

}  // namespace
}  // namespace het::op_testing
