#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(CenterCropPad, CropsAndPads) {
  const Tensor x = make_ramp<float>({5});
  const auto to = [&](int64_t length) {
    return run_op_single({"CenterCropPad", {x, int64_tensor({length})}});
  };
  expect_values<float>(to(3), {3}, {1, 2, 3});
  expect_values<float>(to(2), {2}, {1, 2});
  expect_values<float>(to(8), {8}, {0, 0, 1, 2, 3, 4, 0, 0});
  expect_values<float>(to(0), {0}, {});
  expect_values<float>(run_op_single({"CenterCropPad",
                                      {make_ramp<float>({2, 3}), int64_tensor({1})},
                                      make_attributes({{"axes", Ints{-1}}})}),
                       {2, 1}, {1, 4});
  expect_op_error({"CenterCropPad", {x, int64_tensor({1, 2})}}, "one entry");
  expect_op_error({"CenterCropPad", {x, int64_tensor({-1})}}, "one entry");
}

}  // namespace
}  // namespace het::op_testing
