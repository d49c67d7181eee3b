#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

/// A 1x1 kernel of weight 1 over the picture 1 2 / 3 4, moved by (y, x) at every position.
OpCall moved(double y, double x) {
  return {"DeformConv",
          {make_tensor<float>({1, 1, 2, 2}, {1, 2, 3, 4}), make_tensor<float>({1, 1, 1, 1}, {1}),
           make_tensor<float>({1, 2, 2, 2}, {y, y, y, y, x, x, x, x})}};
}

TEST(DeformConv, OffsetsMoveTheSamples) {
  expect_values<float>(run_op_single(moved(0, 0)), {1, 1, 2, 2}, {1, 2, 3, 4});
  expect_values<float>(run_op_single(moved(1, 0)), {1, 1, 2, 2}, {3, 4, 0, 0});
  expect_values<float>(run_op_single(moved(0, 0.5)), {1, 1, 2, 2}, {1.5, 1, 3.5, 2});
  expect_values<float>(run_op_single(moved(-0.5, -0.5)), {1, 1, 2, 2}, {0.25, 0.75, 1, 2.5});
  expect_values<float>(run_op_single(moved(std::nan(""), 0)), {1, 1, 2, 2}, {0, 0, 0, 0});
}

TEST(DeformConv, MaskBiasAndGroups) {
  // Two channels with an offset group each: the first stays, the second moves by one column.
  const OpCall call{
      "DeformConv",
      {make_tensor<float>({1, 2, 1, 2}, {1, 2, 3, 4}), make_tensor<float>({1, 2, 1, 1}, {1, 10}),
       make_tensor<float>({1, 4, 1, 2}, {0, 0, 0, 0, 0, 0, 1, -1}), make_tensor<float>({1}, {100}),
       make_tensor<float>({1, 2, 1, 2}, {1, 1, 1, 0.5})},
      make_attributes({{"offset_group", 2}})};
  expect_values<float>(run_op_single(call), {1, 1, 1, 2}, {100 + 1 + 40, 100 + 2 + 15});
}

TEST(DeformConv, WithoutOffsetsItIsAConvolution) {
  const Attributes attributes =
      make_attributes({{"pads", Ints{1, 0, 1, 0}}, {"strides", Ints{1, 2}}, {"group", 2}});
  const Tensor x = make_ramp<float>({1, 2, 3, 4});
  const Tensor w = make_ramp<float>({2, 1, 2, 2}, -3);
  const Tensor offset = make_ramp<float>({1, 8, 4, 2}, 0, 0);
  expect_near(run_op_single({"DeformConv", {x, w, offset}, attributes}),
              run_op_single({"Conv", {x, w}, attributes}));
}

TEST(DeformConv, Refusals) {
  OpCall call = moved(0, 0);
  call.inputs[2] = make_ramp<float>({1, 1, 2, 2});
  expect_op_error(call, "offset must have shape [1,2,2,2]");
  call = moved(0, 0);
  call.attributes = make_attributes({{"offset_group", 2}});
  expect_op_error(call, "offset_group is 2");
}

}  // namespace
}  // namespace het
