#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall trilu(const Tensor& x, bool upper, int64_t k) {
  return {
      "Trilu", {x, Tensor::scalar(k)}, make_attributes({{"upper", static_cast<int64_t>(upper)}})};
}

TEST(Trilu, KeepsATriangle) {
  const Tensor x = make_ramp<float>({2, 3}, 1);
  expect_values<float>(run_op_single({"Trilu", {x}}), {2, 3}, {1, 2, 3, 0, 5, 6});
  expect_values<float>(run_op_single(trilu(x, true, 1)), {2, 3}, {0, 2, 3, 0, 0, 6});
  expect_values<float>(run_op_single(trilu(x, true, -1)), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values<float>(run_op_single(trilu(x, false, 0)), {2, 3}, {1, 0, 0, 4, 5, 0});
  expect_values<float>(run_op_single(trilu(x, false, -5)), {2, 3}, {0, 0, 0, 0, 0, 0});
  expect_values<float>(run_op_single(trilu(x, true, INT64_MAX)), {2, 3}, {0, 0, 0, 0, 0, 0});
  expect_values<int64_t>(run_op_single(trilu(make_ramp<int64_t>({2, 2, 2}, 1), false, 0)),
                         {2, 2, 2}, {1, 0, 3, 4, 5, 0, 7, 8});
  expect_values<float>(run_op_single({"Trilu", {make_ramp<float>({0, 3})}}), {0, 3}, {});
  expect_op_error({"Trilu", {make_ramp<float>({3})}}, "rank");
  expect_op_error({"Trilu", {x, int64_tensor({1, 2})}}, "one number");
}

}  // namespace
}  // namespace het::op_testing
