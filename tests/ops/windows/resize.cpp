#include "inference/ops/windows/resize.h"

#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// A row of pixels, resized along its length. Expected values: ONNX' reference evaluator.
const Tensor& row() {
  static const Tensor tensor = make_tensor<float>({1, 4}, {1, 2, 3, 4});
  return tensor;
}

Tensor scales(const Floats& values) {
  return Tensor::from<float>({static_cast<int64_t>(values.size())}, std::span<const float>(values));
}

OpCall to_scale(float scale, std::initializer_list<std::pair<std::string_view, Attribute>> list) {
  return {"Resize", {row(), Tensor(), scales({1, scale})}, make_attributes(list)};
}

OpCall to_size(int64_t size, std::initializer_list<std::pair<std::string_view, Attribute>> list) {
  return {"Resize", {row(), Tensor(), Tensor(), int64_tensor({1, size})}, make_attributes(list)};
}

void expect_row(const OpCall& call, const std::vector<double>& values) {
  expect_values<float>(run_op_single(call), {1, static_cast<int64_t>(values.size())}, values, 2e-6);
}

TEST(Resize, LinearInEveryCoordinateMode) {
  const auto call = [](float scale, const char* coordinates) {
    return to_scale(scale, {{"mode", "linear"}, {"coordinate_transformation_mode", coordinates}});
  };
  expect_row(call(1.7f, "half_pixel"),
             {1, 1.38235295, 1.97058797, 2.55882406, 3.14705896, 3.73529410});
  expect_row(call(1.7f, "half_pixel_symmetric"),
             {1.02941203, 1.61764705, 2.20588207, 2.79411793, 3.38235307, 3.97058797});
  expect_row(call(1.7f, "pytorch_half_pixel"),
             {1, 1.38235295, 1.97058797, 2.55882406, 3.14705896, 3.73529410});
  // The conformance data divides by the exact length, 6.8, not by the 6 of the output.
  expect_row(call(1.7f, "align_corners"),
             {1, 1.51724100, 2.03448296, 2.55172396, 3.06896591, 3.58620691});
  expect_row(call(1.7f, "asymmetric"),
             {1, 1.58823502, 2.17647004, 2.76470590, 3.35294104, 3.94117594});
  expect_row(call(0.25f, "pytorch_half_pixel"), {1});
  expect_row(call(0.25f, "align_corners"), {1});
}

TEST(Resize, SizesGiveTheScale) {
  expect_row(to_size(7, {{"mode", "linear"}}),
             {1, 1.35714304, 1.92857206, 2.5, 3.07142806, 3.64285707, 4});
  expect_row(to_size(7, {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}}),
             {1, 1.5, 2, 2.5, 3, 3.5, 4});
}

TEST(Resize, Cubic) {
  expect_row(to_scale(2, {{"mode", "cubic"}}), {0.89453101, 1.19140601, 1.66796899, 2.296875,
                                                2.703125, 3.33203101, 3.80859399, 4.10546923});
  expect_row(
      to_scale(2, {{"mode", "cubic"}, {"cubic_coeff_a", -0.5f}, {"exclude_outside", int64_t{1}}}),
      {0.91176498, 1.16788304, 1.70992398, 2.25, 2.75, 3.29007602, 3.83211708, 4.08823505});
}

TEST(Resize, Antialias) {
  expect_row(to_size(2, {{"mode", "linear"}, {"antialias", int64_t{1}}}), {1.625, 3.375});
  expect_row(to_size(3, {{"mode", "cubic"}, {"antialias", int64_t{1}}}),
             {1.15500200, 2.5, 3.84499788});
  expect_row(
      to_size(3, {{"mode", "cubic"}, {"antialias", int64_t{1}}, {"exclude_outside", int64_t{1}}}),
      {1.16089797, 2.5, 3.83910203});
  // enlarging is the plain interpolation
  expect_near(run_op_single(to_size(7, {{"mode", "linear"}, {"antialias", int64_t{1}}})),
              run_op_single(to_size(7, {{"mode", "linear"}})));
}

TEST(Resize, NearestInEveryRounding) {
  const auto rounded = [](const char* mode, const char* coordinates) {
    return to_size(8, {{"nearest_mode", mode}, {"coordinate_transformation_mode", coordinates}});
  };
  expect_row(rounded("round_prefer_floor", "half_pixel"), {1, 1, 2, 2, 3, 3, 4, 4});
  expect_row(rounded("round_prefer_floor", "asymmetric"), {1, 1, 2, 2, 3, 3, 4, 4});
  expect_row(rounded("round_prefer_ceil", "asymmetric"), {1, 2, 2, 3, 3, 4, 4, 4});
  expect_row(rounded("floor", "half_pixel"), {1, 1, 1, 2, 2, 3, 3, 4});
  expect_row(rounded("ceil", "half_pixel"), {1, 2, 2, 3, 3, 4, 4, 4});
  expect_row(to_scale(0.5f, {}), {1, 3});
  expect_row(to_scale(0.5f, {{"nearest_mode", "round_prefer_ceil"}}), {2, 4});
  expect_row(to_size(2, {{"coordinate_transformation_mode", "tf_half_pixel_for_nn"},
                         {"nearest_mode", "floor"}}),
             {2, 4});
}

TEST(Resize, NearestIsExactForThirdsWrittenAsFloats) {
  const OpCall call{"Resize",
                    {make_ramp<int64_t>({9}), Tensor(), scales({0.33333334f})},
                    make_attributes({{"coordinate_transformation_mode", "asymmetric"},
                                     {"nearest_mode", "floor"}})};
  expect_values<int64_t>(run_op_single(call), {3}, {0, 3, 6});
}

TEST(Resize, CropAndResize) {
  const auto crop = [](const Floats& roi, int64_t size) {
    return OpCall{"Resize",
                  {row(), scales(roi), Tensor(), int64_tensor({1, size})},
                  make_attributes({{"mode", "linear"},
                                   {"coordinate_transformation_mode", "tf_crop_and_resize"},
                                   {"extrapolation_value", 9.0f}})};
  };
  expect_row(crop({0, -0.25f, 1, 1.25f}, 5), {9, 1.375, 2.5, 3.625, 9});
  expect_row(crop({0, 0.2f, 1, 0.6f}, 1), {2.2});
  expect_row(crop({0, std::nanf(""), 1, 1}, 2), {9, 9});
  expect_op_error(crop({0, 1}, 5), "roi has shape [2]");
}

TEST(Resize, TwoDimensionsAndTypes) {
  const std::vector<double> picture{1, 2, 3, 4};
  const Attributes linear = make_attributes({{"mode", "linear"}});
  const std::vector<double> doubled{1,   1.25, 1.75, 2,   1.5, 1.75, 2.25, 2.5,
                                    2.5, 2.75, 3.25, 3.5, 3,   3.25, 3.75, 4};
  expect_values<float>(
      run_op_single({"Resize",
                     {make_tensor<float>({1, 1, 2, 2}, picture), Tensor(), scales({1, 1, 2, 2})},
                     linear}),
      {1, 1, 4, 4}, doubled);
  expect_values<Float16>(
      run_op_single(
          {"Resize", {make_tensor<Float16>({2, 2}, picture), Tensor(), scales({2, 2})}, linear}),
      {4, 4}, doubled);
  // integers round to the nearest, ties to even
  expect_values<uint8_t>(
      run_op_single(
          {"Resize", {make_tensor<uint8_t>({2}, {0, 10}), Tensor(), scales({2})}, linear}),
      {4}, {0, 2, 8, 10});
  expect_values<bool>(
      run_op_single({"Resize", {make_tensor<bool>({2}, {0, 1}), Tensor(), scales({2})}}), {4},
      {0, 0, 1, 1});
}

TEST(Resize, AxesAndAspectRatio) {
  const auto policy = [](const std::string& name, const Ints& sizes) {
    return OpCall{"Resize",
                  {make_ramp<float>({2, 1, 4}), Tensor(), Tensor(), int64_tensor(sizes)},
                  make_attributes({{"axes", Ints{-1, 0}}, {"keep_aspect_ratio_policy", name}})};
  };
  EXPECT_EQ(run_op_single(policy("stretch", {3, 5})).shape(), (Shape{5, 1, 3}));
  EXPECT_EQ(run_op_single(policy("not_larger", {7, 7})).shape(), (Shape{4, 1, 7}));
  EXPECT_EQ(run_op_single(policy("not_smaller", {6, 6})).shape(), (Shape{6, 1, 12}));
}

TEST(Resize, ScalesRoundLikeFloats) {
  // 10 * 0.7f is 7 in float, a little less in double.
  const Tensor y = run_op_single({"Resize", {make_ramp<float>({10}), Tensor(), scales({0.7f})}});
  EXPECT_EQ(y.shape(), (Shape{7}));
}

TEST(Resize, ZeroSizes) {
  expect_values<float>(
      run_op_single({"Resize", {make_ramp<float>({0, 2}), Tensor(), scales({2, 2})}}), {0, 4}, {});
  expect_row(to_size(0, {{"mode", "linear"}}), {});
  expect_op_error({"Resize", {make_ramp<float>({0}), Tensor(), Tensor(), int64_tensor({2})}},
                  "cannot get size 2");
}

TEST(Resize, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  expect_op_error({"Resize", {x}}, "exactly one");
  expect_op_error({"Resize", {x, Tensor(), scales({1, 1}), int64_tensor({1, 1})}}, "both");
  expect_op_error({"Resize", {x, Tensor(), scales({1})}}, "must have 2 values");
  expect_op_error({"Resize", {x, Tensor(), scales({1, 0})}}, "scale 0");
  expect_op_error({"Resize", {x, Tensor(), scales({1, -1})}}, "scale -1");
  expect_op_error({"Resize", {x, Tensor(), scales({1, std::nanf("")})}}, "scale nan");
  expect_op_error({"Resize", {x, Tensor(), scales({1, 1e30f})}}, "not usable");
  expect_op_error({"Resize", {x, Tensor(), Tensor(), int64_tensor({1, -1})}}, "cannot get size -1");
  expect_op_error({"Resize", {x, Tensor(), scales({1, 1})}, make_attributes({{"mode", "area"}})},
                  "mode is 'area'");
  expect_op_error(
      {"Resize", {x, Tensor(), scales({1, 1})}, make_attributes({{"axes", Ints{0, 2}}})}, "axis 2");
  expect_op_error({"Resize",
                   {make_tensor<bool>({1}, {1}), Tensor(), scales({2})},
                   make_attributes({{"mode", "linear"}})},
                  "bool");
}

}  // namespace
}  // namespace het::op_testing
