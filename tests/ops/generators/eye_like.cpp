#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(EyeLike, DiagonalAndType) {
  const Tensor x = make_ramp<int32_t>({2, 3});
  expect_values<int32_t>(run_op_single({"EyeLike", {x}}), {2, 3}, {1, 0, 0, 0, 1, 0});
  expect_values<double>(
      run_op_single({"EyeLike", {x}, make_attributes({{"k", int64_t{1}}, {"dtype", int64_t{11}}})}),
      {2, 3}, {0, 1, 0, 0, 0, 1});
  expect_values<int32_t>(
      run_op_single({"EyeLike", {x}, make_attributes({{"k", int64_t{INT64_MIN}}})}), {2, 3},
      {0, 0, 0, 0, 0, 0});
  expect_op_error({"EyeLike", {make_ramp<float>({2})}}, "rank");
  expect_op_error({"EyeLike", {x}, make_attributes({{"dtype", int64_t{8}}})}, "strings");
}

}  // namespace
}  // namespace het::op_testing
