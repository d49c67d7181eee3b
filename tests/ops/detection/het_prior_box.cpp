#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor priors(const std::string& type, const std::vector<int64_t>& grid,
              const std::vector<int64_t>& image, const Attributes& attributes) {
  return run_op_single({type, {int64_tensor(grid), int64_tensor(image)}, attributes, 1, "het"});
}

/// The boxes of the output's first row.
std::vector<float> boxes_of(const Tensor& output) {
  const std::span<float> values = output.values<float>();
  return {values.begin(), values.begin() + output.shape()[1]};
}

void expect_boxes(const Tensor& output, const std::vector<double>& expected) {
  ASSERT_FALSE(output.empty());
  const std::vector<float> boxes = boxes_of(output);
  ASSERT_EQ(boxes.size(), expected.size());
  for (size_t i = 0; i < boxes.size(); ++i) EXPECT_NEAR(boxes[i], expected[i], 1e-6) << i;
}

TEST(HetPriorBoxClustered, BoxesAroundEveryPoint) {
  // Centres at (column + .5) * 10 and (row + .5) * 20 in a picture of 20 x 40 (height 40).
  const Tensor output = priors("PriorBoxClustered", {1, 2}, {40, 20},
                               make_attributes({{"width", Floats{4, 10}},
                                                {"height", Floats{8, 20}},
                                                {"step_w", 10.0f},
                                                {"step_h", 20.0f},
                                                {"offset", .5f},
                                                {"clip", 0},
                                                {"variance", Floats{.1f, .2f, .3f, .4f}}}));
  expect_values<float>(output, {2, 16},
                       {.15, .15, .35, .35, 0,  0,  .5, .5, .65, .15, .85, .35, .5, 0,  1,  .5,
                        .1,  .2,  .3,  .4,  .1, .2, .3, .4, .1,  .2,  .3,  .4,  .1, .2, .3, .4});
}

TEST(HetPriorBoxClustered, StepsAndClipping) {
  const auto boxes = [](const Attributes& attributes) {
    return priors("PriorBoxClustered", {1, 1}, {10, 10}, attributes);
  };
  // One step for both; clip is the default; an absent variance is .1.
  const Tensor clipped = boxes(make_attributes(
      {{"width", Floats{16}}, {"height", Floats{6}}, {"step", 10.0f}, {"offset", .5f}}));
  expect_values<float>(clipped, {2, 4}, {0, .2, 1, .8, .1, .1, .1, .1});
  // No step at all: the picture over the grid. One variance for all.
  const Tensor cells = boxes(make_attributes({{"width", Floats{16}},
                                              {"height", Floats{6}},
                                              {"offset", .5f},
                                              {"clip", 0},
                                              {"variance", Floats{.5f}}}));
  expect_values<float>(cells, {2, 4}, {-.3, .2, 1.3, .8, .5, .5, .5, .5});
}

TEST(HetPriorBox, SquaresAndRatios) {
  // min 4, sqrt(4 * 9) = 6, ratio 4: 8 x 2, flipped 2 x 8. The centre is (5, 5) of 10 x 10.
  const Attributes attributes = make_attributes({{"min_size", Floats{4}},
                                                 {"max_size", Floats{9}},
                                                 {"aspect_ratio", Floats{4, 1, 4, .25f}},
                                                 {"flip", 1},
                                                 {"step", 10.0f},
                                                 {"offset", .5f}});
  const std::vector<double> square{.3, .3, .7, .7};
  const std::vector<double> larger{.2, .2, .8, .8};
  const std::vector<double> ratios{.1, .4, .9, .6, .4, .1, .6, .9};
  const auto join = [](std::vector<double> a, const std::vector<double>& b,
                       const std::vector<double>& c) {
    a.insert(a.end(), b.begin(), b.end());
    a.insert(a.end(), c.begin(), c.end());
    return a;
  };
  expect_boxes(priors("PriorBox", {1, 1}, {10, 10}, attributes), join(square, larger, ratios));
  Attributes ratios_first = attributes;
  ratios_first.set("min_max_aspect_ratios_order", int64_t{0});
  expect_boxes(priors("PriorBox", {1, 1}, {10, 10}, ratios_first), join(square, ratios, larger));
}

TEST(HetPriorBox, WithoutAStepPointsAreInTheMiddleOfCells) {
  // Offset is not used then. Cells of 5 x 10 pixels (height 10).
  const Attributes attributes =
      make_attributes({{"min_size", Floats{2}}, {"offset", 0.0f}, {"clip", 1}});
  expect_boxes(priors("PriorBox", {1, 2}, {10, 10}, attributes),
               {.15, .4, .35, .6, .65, .4, .85, .6});
}

TEST(HetPriorBox, PartsOfThePicture) {
  // MXNet: sizes .5 and .25 of a picture of height 8, step -1 is height / rows = 4; ratios belong
  // to the first size and come last; max_size is ignored.
  const Attributes attributes = make_attributes({{"min_size", Floats{.5f, .25f}},
                                                 {"max_size", Floats{.9f}},
                                                 {"aspect_ratio", Floats{4}},
                                                 {"scale_all_sizes", 0},
                                                 {"step", -1.0f},
                                                 {"offset", .5f}});
  const Tensor output = priors("PriorBox", {2, 1}, {8, 16}, attributes);
  expect_boxes(output,
               {0, 0,  .25, .5, 1. / 16, .125, 3. / 16, .375, -2. / 16, .125, 6. / 16, .375,
                0, .5, .25, 1,  1. / 16, .625, 3. / 16, .875, -2. / 16, .625, 6. / 16, .875});
}

TEST(HetPriorBox, FixedSizesAreRepeatedInThemselves) {
  // Size 4 with density 2: centres at -1 and +1 around the point (8, 8); boxes are cut off at the
  // borders even without clip.
  const Tensor output = priors(
      "PriorBox", {1, 1}, {16, 16},
      make_attributes(
          {{"fixed_size", Floats{4}}, {"density", Floats{2}}, {"step", 16.0f}, {"offset", .5f}}));
  const auto part = [](double pixel) { return pixel / 16; };
  expect_boxes(output, {part(5), part(5), part(9), part(9), part(7), part(5), part(11), part(9),
                        part(5), part(7), part(9), part(11), part(7), part(7), part(11), part(11)});
  const Tensor cut = priors("PriorBox", {1, 1}, {16, 16},
                            make_attributes({{"fixed_size", Floats{32}},
                                             {"density", Floats{1}},
                                             {"fixed_ratio", Floats{.25f}},
                                             {"step", 16.0f},
                                             {"offset", .5f}}));
  // 16 wide, 64 high around (8, 8).
  expect_boxes(cut, {0, 0, 1, 1});
}

TEST(HetPriorBox, AnotherTypeAndNoPoints) {
  const Attributes attributes =
      make_attributes({{"min_size", Floats{8}}, {"offset", .5f}, {"output_type", "float16"}});
  expect_values<Float16>(priors("PriorBox", {1, 1}, {16, 16}, attributes), {2, 4},
                         {.25, .25, .75, .75, .1, .1, .1, .1}, 1e-3);
  expect_values<Float16>(priors("PriorBox", {0, 7}, {16, 16}, attributes), {2, 0}, {});
  // Ends at once.
  expect_values<Float16>(priors("PriorBox", {int64_t{1} << 53, 0}, {16, 16}, attributes), {2, 0},
                         {});
}

TEST(HetPriorBox, RefusesBadInput) {
  const auto expect = [](const std::string& type, const std::vector<int64_t>& grid,
                         const std::vector<int64_t>& image, const Attributes& attributes,
                         const char* part) {
    expect_op_error({type, {int64_tensor(grid), int64_tensor(image)}, attributes, 1, "het"}, part);
  };
  const Attributes good = make_attributes({{"min_size", Floats{8}}, {"offset", .5f}});
  const auto with = [&](std::string_view name, Attribute value) {
    Attributes attributes = good;
    attributes.set(std::string(name), std::move(value));
    return attributes;
  };
  expect("PriorBox", {1, 1, 1}, {4, 4}, good, "output_size has shape [3]");
  expect("PriorBox", {-1, 1}, {4, 4}, good, "output_size is -1 x 1");
  expect("PriorBox", {int64_t{1} << 40, int64_t{1} << 40}, {4, 4}, good, "no tensor can hold");
  expect("PriorBox", {1, 1}, {0, 4}, good, "image_size is 0 x 4");
  expect("PriorBox", {1, 1}, {4, 4}, make_attributes({{"min_size", Floats{8}}}), "offset");
  expect("PriorBox", {1, 1}, {4, 4}, with("variance", Floats{1, 2}), "variance has 2 values");
  expect("PriorBox", {1, 1}, {4, 4}, with("aspect_ratio", Floats{-1}), "aspect_ratio contains -1");
  expect("PriorBox", {1, 1}, {4, 4}, with("fixed_ratio", Floats{0}), "fixed_ratio contains 0");
  expect("PriorBox", {1, 1}, {4, 4}, with("density", Floats{1e9f}), "density contains");
  expect("PriorBox", {1, 1}, {4, 4}, with("fixed_size", Floats{-4}), "fixed_size contains -4");
  expect("PriorBox", {1, 1}, {4, 4}, with("output_type", "int32"), "output_type is int32");
  Attributes density = with("fixed_size", Floats{4, 4});
  density.set("density", Floats{1});
  expect("PriorBox", {1, 1}, {4, 4}, density, "each size needs one");
  expect("PriorBox", {1, 1}, {4, 4}, with("min_size", Floats(4096, 1)), "boxes per point");
  expect("PriorBoxClustered", {1, 1}, {4, 4},
         make_attributes({{"width", Floats{1, 2}}, {"height", Floats{1}}, {"offset", .5f}}),
         "width has 2 values and height 1");
}

}  // namespace
}  // namespace het::op_testing
