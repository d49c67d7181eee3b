#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Col2Im, AddsOverlappingBlocks) {
  // 2x2 blocks at the 4 places of a 3x3 image, all ones: every pixel counts its blocks.
  const Tensor ones = make_tensor<float>({1, 4, 4}, std::vector<double>(16, 1));
  expect_values<float>(
      run_op_single({"Col2Im", {ones, int64_tensor({3, 3}), int64_tensor({2, 2})}}), {1, 1, 3, 3},
      {1, 2, 1, 2, 4, 2, 1, 2, 1});
  expect_values<int32_t>(
      run_op_single({"Col2Im",
                     {make_ramp<int32_t>({1, 4, 4}), int64_tensor({4, 4}), int64_tensor({2, 2})},
                     make_attributes({{"strides", Ints{2, 2}}})}),
      {1, 1, 4, 4}, {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15});
  expect_values<float>(
      run_op_single({"Col2Im",
                     {make_ramp<float>({1, 1, 9}), int64_tensor({1, 1}), int64_tensor({1, 1})},
                     make_attributes({{"pads", Ints{1, 1, 1, 1}}})}),
      {1, 1, 1, 1}, {4});
}

TEST(Col2Im, ZeroSizesAndRefusals) {
  const Tensor image = int64_tensor({3, 3});
  const Tensor block = int64_tensor({2, 2});
  expect_values<float>(run_op_single({"Col2Im", {make_ramp<float>({0, 4, 4}), image, block}}),
                       {0, 1, 3, 3}, {});
  expect_op_error({"Col2Im", {make_ramp<float>({1, 3, 4}), image, block}}, "do not fit");
  expect_op_error({"Col2Im", {make_ramp<float>({1, 4, 5}), image, block}}, "do not fit");
  expect_op_error({"Col2Im",
                   {make_ramp<float>({1, 4, 4}), image, block},
                   make_attributes({{"strides", Ints{0, 1}}})},
                  "strides");
  expect_op_error({"Col2Im", {make_ramp<float>({1, 4, 4}), image, int64_tensor({2})}},
                  "block_shape");
}

}  // namespace
}  // namespace het::op_testing
