#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor pool(const Tensor& x, const std::vector<double>& rois, int64_t height, int64_t width,
            const char* method, float scale = 1) {
  return run_op_single({"ROIPooling",
                        {x, make_tensor<float>({static_cast<int64_t>(rois.size()) / 5, 5}, rois)},
                        make_attributes({{"pooled_h", height},
                                         {"pooled_w", width},
                                         {"method", method},
                                         {"spatial_scale", scale}}),
                        1,
                        "het"});
}

TEST(HetRoiPooling, LargestPixelOfEveryBin) {
  // Pixels (1, 1) to (3, 3): bins of 1.5 pixels share the middle ones. Value = 6 row + column.
  const Tensor x = make_ramp<float>({1, 1, 6, 6});
  expect_values<float>(pool(x, {0, 1, 1, 3, 3}, 2, 2, "max"), {1, 1, 2, 2}, {14, 15, 20, 21});
  // Half the scale and rounding: 2.4 and 6.6 are pixels 1 and 3.
  expect_values<float>(pool(x, {0, 2.4, 2.4, 6.6, 6.6}, 2, 2, "max", .5f), {1, 1, 2, 2},
                       {14, 15, 20, 21});
  // What is turned inside out has one pixel; bins outside the picture give 0.
  expect_values<float>(pool(x, {0, 4, 4, 1, 1, 0, 20, 20, 30, 30}, 1, 1, "max"), {2, 1, 1, 1},
                       {28, 0});
}

TEST(HetRoiPooling, InterpolatesAtEvenlySpacedPoints) {
  // Value = 5 row + column, so positions can be read off: corners and middle of the whole picture.
  const Tensor x = make_ramp<float>({1, 1, 5, 5});
  expect_values<float>(pool(x, {0, 0, 0, 1, 1}, 3, 3, "bilinear"), {1, 1, 3, 3},
                       {0, 2, 4, 10, 12, 14, 20, 22, 24});
  // Columns .25 * 4 = 1 to .875 * 4 = 3.5, row .5 * 4 = 2.
  expect_values<float>(pool(x, {0, .25, .5, .875, .5}, 1, 2, "bilinear"), {1, 1, 1, 2}, {11, 13.5});
  expect_values<float>(pool(x, {0, .5, .5, 1.5, .5}, 1, 2, "bilinear"), {1, 1, 1, 2}, {12, 0});
}

TEST(HetRoiPooling, ImagesChannelsAndTheEndMark) {
  const Tensor x = make_ramp<float>({2, 2, 1, 1});
  expect_values<float>(
      pool(x, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, 7, 0, 0, 0, 0}, 1, 1, "max"),
      {4, 2, 1, 1}, {2, 3, 0, 1, 0, 0, 0, 0});
  expect_values<float>(pool(x, {}, 1, 1, "max"), {0, 2, 1, 1}, {});
}

TEST(HetRoiPooling, AnyCoordinateIsSafe) {
  const Tensor x = make_ramp<float>({1, 1, 2, 2});
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_values<float>(pool(x, {0, -inf, -inf, inf, inf, 0, nan, nan, nan, nan}, 1, 1, "max"),
                       {2, 1, 1, 1}, {3, 0});
}

TEST(HetRoiPooling, RefusesBadInput) {
  const Tensor x = make_ramp<float>({1, 1, 2, 2});
  const auto expect = [&](const Tensor& rois, int64_t bins, const char* method, const char* part) {
    expect_op_error({"ROIPooling",
                     {x, rois},
                     make_attributes({{"pooled_h", bins},
                                      {"pooled_w", int64_t{1}},
                                      {"method", method},
                                      {"spatial_scale", 1.0f}}),
                     1,
                     "het"},
                    part);
  };
  const Tensor good = make_tensor<float>({1, 5}, {0, 0, 0, 1, 1});
  expect(good, 1, "mean", "'mean'");
  expect(good, 0, "max", "0 x 1");
  expect(make_ramp<float>({1, 4}), 1, "max", "rois [1,4]");
  expect(make_tensor<float>({1, 5}, {1, 0, 0, 1, 1}), 1, "max", "region 0 belongs to image 1");
  expect(make_tensor<float>({1, 5}, {-2, 0, 0, 1, 1}), 1, "max", "region 0 belongs to image -2");
}

}  // namespace
}  // namespace het::op_testing
