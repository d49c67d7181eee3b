#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall call(const std::string& type, const std::vector<Tensor>& inputs,
            std::initializer_list<std::pair<std::string_view, Attribute>> more) {
  Attributes attributes = make_attributes({{"spatial_scale", 1.0f}});
  for (const auto& [name, value] : more) attributes.set(std::string(name), value);
  return {type, inputs, attributes, 1, "het"};
}

Tensor rois(const std::vector<double>& values) {
  return make_tensor<float>({static_cast<int64_t>(values.size()) / 5, 5}, values);
}

TEST(HetPsroiPooling, AveragesEveryBinInItsOwnChannel) {
  // Channel k holds 16 k + 4 row + column; 2 x 2 bins of 2 x 2 pixels, whose means are at the
  // middle of the bin.
  const Tensor x = make_ramp<float>({1, 4, 4, 4});
  expect_values<float>(run_op_single(call("PSROIPooling", {x, rois({0, 0, 0, 3, 3})},
                                          {{"output_dim", 1}, {"group_size", 2}})),
                       {1, 1, 2, 2}, {2.5, 16 + 4.5, 32 + 10.5, 48 + 12.5});
  // Outside the picture there is nothing; behind the end mark all is 0.
  expect_values<float>(
      run_op_single(call("PSROIPooling",
                         {x, rois({0, 20, 20, 22, 22, 0, 3.4, 2.6, 3.4, 2.6, -1, 0, 0, 0, 0})},
                         {{"output_dim", 4}})),
      {3, 4, 1, 1}, {0, 0, 0, 0, 15, 31, 47, 63, 0, 0, 0, 0});
}

TEST(HetPsroiPooling, BilinearPointsInEveryPart) {
  // Two parts side by side read the channels 0 and 1 (10 more) of a picture with value = column.
  const Tensor x = make_tensor<float>({1, 2, 1, 5}, {0, 1, 2, 3, 4, 10, 11, 12, 13, 14});
  // One point in the middle of each half of [0, 1]: columns 1 and 3.
  expect_values<float>(
      run_op_single(call("PSROIPooling", {x, rois({0, 0, 0, 1, 1})},
                         {{"output_dim", 1}, {"mode", "bilinear"}, {"spatial_bins_x", 2}})),
      {1, 1, 1, 1}, {(1 + 13) / 2.});
  // Two points: the borders of each half, columns 0, 2 and 2, 4.
  expect_values<float>(
      run_op_single(call(
          "PSROIPooling", {x, rois({0, 0, 0, 1, 0})},
          {{"output_dim", 1}, {"mode", "bilinear"}, {"group_size", 2}, {"spatial_bins_x", 2}})),
      {1, 1, 2, 2}, {6, 8, 6, 8});
}

TEST(HetDeformablePsroiPooling, SamplesAndOffsets) {
  // value = 4 row + column. The region of pixels 0 to 1 runs from -.5 to 1.5: two samples per
  // dimension at -.5 (taken at 0) and .5.
  const Tensor x = make_ramp<float>({1, 1, 4, 4});
  const auto pooled = [&](std::vector<Tensor> inputs) {
    return run_op_single(call(
        "DeformablePSROIPooling", inputs,
        {{"output_dim", 1}, {"spatial_bins_x", 2}, {"spatial_bins_y", 2}, {"trans_std", .5f}}));
  };
  expect_values<float>(pooled({x, rois({0, 0, 0, 1, 1})}), {1, 1, 1, 1}, {4 * .25 + .25});
  // Offsets of 1 and .5 move by .5 * 2 and .25 * 2 pixels: columns .5, 1.5, rows 0, 1.
  expect_values<float>(
      pooled({x, rois({0, 0, 0, 1, 1}), make_tensor<float>({1, 2, 1, 1}, {1, .5})}), {1, 1, 1, 1},
      {4 * .5 + 1});
  expect_values<float>(pooled({x, rois({0, 20, 20, 21, 21})}), {1, 1, 1, 1}, {0});
}

TEST(HetPsroiPooling, RefusesBadInput) {
  const Tensor x = make_ramp<float>({1, 4, 2, 2});
  const Tensor good = rois({0, 0, 0, 1, 1});
  expect_op_error(call("PSROIPooling", {x, good}, {{"output_dim", 3}}), "3 output channels");
  expect_op_error(call("PSROIPooling", {x, good}, {{"output_dim", INT64_MAX}, {"group_size", 2}}),
                  "output channels");
  expect_op_error(call("PSROIPooling", {x, good}, {{"output_dim", 4}, {"mode", "max"}}), "'max'");
  expect_op_error(call("PSROIPooling", {x, good}, {{"output_dim", 4}, {"group_size", int64_t{0}}}),
                  "group_size is 0");
  expect_op_error(call("PSROIPooling", {x, rois({1, 0, 0, 1, 1})}, {{"output_dim", 4}}), "image 1");
  expect_op_error(call("DeformablePSROIPooling", {x, good, make_ramp<float>({1, 6, 1, 1})},
                       {{"output_dim", 4}}),
                  "offsets have shape [1,6,1,1]");
}

}  // namespace
}  // namespace het::op_testing
