#include "inference/ops/windows/roi_align.h"

#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor align(const Tensor& x, const std::vector<double>& rois, const std::vector<int64_t>& batches,
             const Attributes& attributes) {
  const auto count = static_cast<int64_t>(batches.size());
  return run_op_single(
      {"RoiAlign", {x, make_tensor<float>({count, 4}, rois), int64_tensor(batches)}, attributes});
}

TEST(RoiAlign, AveragesLinearSamples) {
  // The picture is a plane, so an average of samples is the value at the middle of the bin. With
  // half_pixel the pixel (i, j) has its centre at i + 0.5.
  const Tensor x = make_ramp<float>({1, 1, 8, 8});
  const Attributes attributes =
      make_attributes({{"output_height", 2}, {"output_width", 2}, {"sampling_ratio", 2}});
  expect_values<float>(align(x, {1, 2, 5, 6}, {0}, attributes), {1, 1, 2, 2},
                       {21.5, 23.5, 37.5, 39.5});
}

TEST(RoiAlign, OutputHalfPixelHasNoShiftAndAtLeastOnePixel) {
  const Tensor x = make_ramp<float>({1, 1, 8, 8});
  const Attributes attributes =
      make_attributes({{"coordinate_transformation_mode", "output_half_pixel"}});
  expect_values<float>(align(x, {1, 2, 5, 6, 3, 3, 3, 3}, {0, 0}, attributes), {2, 1, 1, 1},
                       {4 * 8 + 3, 3.5 * 8 + 3.5});
}

TEST(RoiAlign, MaximumOfTheWeightedPixels) {
  const Tensor x = make_tensor<float>({1, 1, 2, 2}, {1, 2, 3, 10});
  const Attributes attributes = make_attributes({{"mode", "max"}, {"sampling_ratio", 1}});
  // One sample in the middle of four pixels: each weighs a quarter.
  expect_values<float>(align(x, {0, 0, 2, 2}, {0}, attributes), {1, 1, 1, 1}, {2.5});
}

TEST(RoiAlign, ScaleBatchAndChannels) {
  const Tensor x = make_ramp<float>({2, 2, 4, 4});
  const Attributes attributes = make_attributes({{"spatial_scale", .5f}});
  expect_values<float>(align(x, {0, 0, 8, 8}, {1}, attributes), {1, 2, 1, 1}, {39.5, 55.5});
}

TEST(RoiAlign, SamplesOutsideAreZero) {
  const Tensor x = make_ramp<float>({1, 1, 4, 4}, 1);
  const Attributes attributes = make_attributes({{"sampling_ratio", 2}});
  expect_values<float>(align(x, {20, 20, 24, 24, -20, -20, -16, -16}, {0, 0}, attributes),
                       {2, 1, 1, 1}, {0, 0});
  // No samples at all in a region that is turned inside out.
  expect_values<float>(align(x, {3, 3, 1, 1}, {0}, {}), {1, 1, 1, 1}, {0});
}

TEST(RoiAlign, NoRegions) {
  expect_values<float>(align(make_ramp<float>({1, 3, 4, 4}), {}, {}, {}), {0, 3, 1, 1}, {});
}

TEST(RoiAlign, OpenVinosForm) {
  const Tensor x = make_ramp<float>({1, 1, 8, 8});
  const auto pooled = [&](const Tensor& picture, const std::vector<double>& roi, const char* mode,
                          const char* aligned) {
    return run_op_single(
        {"ROIAlign",
         {picture, make_tensor<float>({1, 4}, roi), make_tensor<int32_t>({1}, {0})},
         make_attributes({{"pooled_h", 1},
                          {"pooled_w", 1},
                          {"sampling_ratio", 1},
                          {"spatial_scale", .5f},
                          {"mode", mode},
                          {"aligned_mode", aligned}}),
         1,
         "het"});
  };
  // Middle (6, 8) / 2 = (3, 4); half a pixel less; (6.5, 8.5) / 2 - .5.
  const std::vector<double> roi{4, 6, 8, 10};
  expect_values<float>(pooled(x, roi, "avg", "asymmetric"), {1, 1, 1, 1}, {4 * 8 + 3});
  expect_values<float>(pooled(x, roi, "avg", "half_pixel_for_nn"), {1, 1, 1, 1}, {3.5 * 8 + 2.5});
  expect_values<float>(pooled(x, roi, "avg", "half_pixel"), {1, 1, 1, 1}, {3.75 * 8 + 2.75});
  // The maximum is the largest interpolated sample: the mean of the four pixels here.
  const Tensor four = make_tensor<float>({1, 1, 2, 2}, {1, 2, 3, 10});
  expect_values<float>(pooled(four, {0, 0, 2, 2}, "max", "asymmetric"), {1, 1, 1, 1}, {4});
  // It starts at 0 (OpenVINO 2026.4.1).
  const Tensor less = make_tensor<float>({1, 1, 2, 2}, {-1, -2, -3, -10});
  expect_values<float>(pooled(less, {0, 0, 2, 2}, "max", "asymmetric"), {1, 1, 1, 1}, {0});
}

TEST(RoiAlign, RefusesBadInput) {
  const Tensor x = make_ramp<float>({1, 1, 4, 4});
  const auto expect = [&](const std::vector<double>& roi, int64_t batch,
                          const Attributes& attributes, const char* part) {
    expect_op_error(
        {"RoiAlign", {x, make_tensor<float>({1, 4}, roi), int64_tensor({batch})}, attributes},
        part);
  };
  const std::vector<double> good{0, 0, 1, 1};
  expect(good, 1, {}, "batch_indices contains 1");
  expect(good, -1, {}, "batch_indices contains -1");
  expect({0, 0, 1e9, 1}, 0, {}, "samples per bin");
  expect({0, 0, std::numeric_limits<double>::quiet_NaN(), 1}, 0, {}, "samples per bin");
  expect(good, 0, make_attributes({{"mode", "sum"}}), "'sum'");
  expect(good, 0, make_attributes({{"coordinate_transformation_mode", "half"}}), "'half'");
  expect(good, 0, make_attributes({{"output_height", int64_t{0}}}), "output_height is 0");
  expect(good, 0, make_attributes({{"sampling_ratio", -1}}), "sampling_ratio is -1");
  expect_op_error({"RoiAlign", {x, make_ramp<float>({1, 5}), int64_tensor({0})}}, "[1,5]");
  expect_op_error({"RoiAlign", {x, make_ramp<float>({2, 4}), int64_tensor({0})}}, "[2,4]");
}

}  // namespace
}  // namespace het::op_testing
