#include "inference/ops/windows/grid_sample.h"

#include <array>
#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor sample(const Tensor& x, const Tensor& grid, const char* mode, const char* padding = "zeros",
              int64_t align_corners = 0) {
  return run_op_single(
      {"GridSample",
       {x, grid},
       make_attributes(
           {{"mode", mode}, {"padding_mode", padding}, {"align_corners", align_corners}})});
}

/// Samples the row 10, 20, 30, 40 at pixel positions, in one spatial dimension.
std::vector<float> sample_row(const std::vector<double>& positions, const char* mode,
                              const char* padding, bool align_corners) {
  const Tensor x = make_tensor<double>({1, 1, 4}, {10, 20, 30, 40});
  std::vector<double> grid;
  for (const double position : positions) {
    grid.push_back(align_corners ? position / 1.5 - 1 : (2 * position + 1) / 4 - 1);
  }
  const auto count = static_cast<int64_t>(grid.size());
  const Tensor y =
      sample(x, make_tensor<double>({1, count, 1}, grid), mode, padding, align_corners ? 1 : 0);
  return y.empty() ? std::vector<float>() : *to_float_vector(y);
}

void expect_row(const std::vector<float>& actual, const std::vector<float>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], expected[i], 1e-4) << "position " << i;
  }
}

TEST(GridSample, LinearWithEachPadding) {
  for (const bool align : {false, true}) {
    expect_row(sample_row({0, 1.25, 3, -.25, 3.75, -2, 9}, "linear", "zeros", align),
               {10, 22.5, 40, 7.5, 10, 0, 0});
    expect_row(sample_row({0, 1.25, -.25, 3.75, -2, 9}, "linear", "border", align),
               {10, 22.5, 10, 40, 10, 40});
  }
  // Mirrored at the outer edges of the picture, or at the centres of its outer pixels.
  expect_row(sample_row({-1, -2.5, 4, 7, 8}, "linear", "reflection", false), {10, 25, 40, 10, 10});
  expect_row(sample_row({-1, -2.5, 4, 6, 7}, "linear", "reflection", true), {20, 35, 30, 10, 20});
}

TEST(GridSample, NearestRoundsHalvesToEven) {
  expect_row(sample_row({.5, 1.5, 2.5, 2.6, -.5, 3.5}, "nearest", "zeros", false),
             {10, 30, 30, 40, 10, 0});
}

TEST(GridSample, CubicIsKeysWithThreeQuarters) {
  // At half way the weights are -3/32, 19/32, 19/32, -3/32.
  expect_row(sample_row({1.5}, "cubic", "zeros", false),
             {(-3 * 10 + 19 * 20 + 19 * 30 - 3 * 40) / 32.0f});
  expect_row(sample_row({.5}, "cubic", "zeros", false), {(19 * 10 + 19 * 20 - 3 * 30) / 32.0f});
  expect_row(sample_row({.5}, "cubic", "border", false),
             {(-3 * 10 + 19 * 10 + 19 * 20 - 3 * 30) / 32.0f});
  expect_row(sample_row({2}, "cubic", "zeros", true), {30});
}

TEST(GridSample, OlderNamesOfTheModes) {
  const Tensor x = make_ramp<float>({1, 1, 3, 3});
  const Tensor grid = make_ramp<float>({1, 2, 2, 2}, -.8, .2);
  expect_near(sample(x, grid, "bilinear"), sample(x, grid, "linear"));
  expect_near(sample(x, grid, "bicubic"), sample(x, grid, "cubic"));
}

TEST(GridSample, PositionsListTheInnermostDimensionFirst) {
  const Tensor x = make_tensor<float>({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Tensor corners = make_tensor<float>({1, 2, 2, 2}, {-1, -1, 1, -1, -1, 1, 1, 1});
  expect_near(sample(x, corners, "linear", "zeros", 1), x);
  const Tensor right_top = make_tensor<float>({1, 1, 1, 2}, {1, -1});
  expect_values<float>(sample(x, right_top, "linear", "zeros", 1), {1, 2, 1, 1}, {2, 6});
}

TEST(GridSample, VolumesAndBatches) {
  const Tensor x = make_ramp<float>({2, 1, 2, 2, 2});
  const Tensor grid = make_tensor<float>({2, 1, 1, 2, 3}, {0, 0, 0, 1, -1, -1,  //
                                                           0, 0, 0, -1, -1, 1});
  expect_values<float>(sample(x, grid, "linear", "zeros", 1), {2, 1, 1, 1, 2}, {3.5, 1, 11.5, 12});
}

TEST(GridSample, HalfTypes) {
  const Tensor x = make_tensor<Float16>({1, 1, 1, 2}, {1, 3});
  const Tensor grid = make_tensor<float>({1, 1, 1, 2}, {0, 0});
  expect_values<Float16>(sample(x, grid, "linear"), {1, 1, 1, 1}, {2});
}

TEST(GridSample, PositionsFarOutsideAndNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = make_ramp<float>({1, 1, 2, 2}, 1);
  const Tensor grid = make_tensor<float>({1, 1, 3, 2}, {nan, 0, infinity, -infinity, 3e38, -3e38});
  for (const char* mode : {"nearest", "linear", "cubic"}) {
    expect_values<float>(sample(x, grid, mode), {1, 1, 1, 3}, {0, 0, 0});
    const Tensor reflected = sample(x, grid, mode, "reflection");
    ASSERT_FALSE(reflected.empty());
    for (const float value : reflected.values<float>()) EXPECT_TRUE(value > -2 && value < 7);
  }
}

TEST(GridSample, EmptyOutputs) {
  const Tensor x = make_ramp<float>({1, 2, 3, 3});
  expect_values<float>(sample(x, make_tensor<float>({1, 0, 4, 2}, {}), "linear"), {1, 2, 0, 4}, {});
}

TEST(GridSample, RefusesBadInput) {
  const Tensor x = make_ramp<float>({1, 1, 3, 3});
  const Tensor grid = make_ramp<float>({1, 2, 2, 2});
  const auto expect = [&](const Tensor& picture, const Tensor& positions, const char* part) {
    expect_op_error({"GridSample", {picture, positions}}, part);
  };
  expect(x, make_ramp<float>({1, 2, 2, 3}), "[1,2,2,3]");
  expect(x, make_ramp<float>({2, 2, 2, 2}), "[2,2,2,2]");
  expect(x, make_ramp<float>({1, 2, 2}), "[1,2,2]");
  expect(make_ramp<float>({1, 3}), make_ramp<float>({1, 3}), "[1,3]");
  expect(make_tensor<float>({1, 1, 0, 3}, {}), grid, "nothing to sample");
  expect(make_ramp<int32_t>({1, 1, 3, 3}), grid, "int32");
  expect_op_error({"GridSample", {x, grid}, make_attributes({{"mode", "area"}})}, "'area'");
  expect_op_error({"GridSample", {x, grid}, make_attributes({{"padding_mode", "wrap"}})}, "'wrap'");
}

}  // namespace
}  // namespace het::op_testing
