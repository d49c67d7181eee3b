#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(TensorScatter, LinearAndCircular) {
  const Tensor cache = make_tensor<float>({2, 3, 1}, std::vector<double>(6));
  const Tensor update = make_tensor<float>({2, 2, 1}, {1, 2, 3, 4});
  expect_values<float>(run_op_single({"TensorScatter", {cache, update, int64_tensor({0, 1})}}),
                       {2, 3, 1}, {1, 2, 0, 0, 3, 4});
  expect_values<float>(run_op_single({"TensorScatter", {cache, update}}), {2, 3, 1},
                       {1, 2, 0, 3, 4, 0});
  expect_values<float>(run_op_single({"TensorScatter",
                                      {cache, update, int64_tensor({2, 5})},
                                      make_attributes({{"mode", "circular"}})}),
                       {2, 3, 1}, {2, 0, 1, 4, 0, 3});
  expect_op_error({"TensorScatter", {cache, update, int64_tensor({0, 2})}}, "do not lie inside");
  expect_op_error({"TensorScatter", {cache, make_ramp<float>({2, 4, 1})}}, "do not fit");
  expect_op_error({"TensorScatter", {cache, update}, make_attributes({{"axis", int64_t{0}}})},
                  "batch dimension");
}

}  // namespace
}  // namespace het::op_testing
