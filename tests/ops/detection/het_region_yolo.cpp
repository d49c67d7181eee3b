#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

OpCall region(const Tensor& x, const Attributes& attributes) {
  return {"RegionYolo", {x}, attributes, 1, "het"};
}

TEST(HetRegionYolo, SoftmaxOverClasses) {
  // One region of 4 coords and 2 classes in 1 x 2 cells: x, y, w, h, objectness, classes.
  const Tensor x =
      make_tensor<float>({1, 7, 1, 2}, {0, 1, 2, -1, 5, 6, 7, 8, -2, 0, 1, 0, 1 + std::log(3.), 0});
  const Tensor y = run_op_single(region(
      x,
      make_attributes({{"coords", 4}, {"classes", 2}, {"num", 1}, {"axis", 1}, {"end_axis", 3}})));
  expect_values<float>(
      y, {1, 14},
      {.5, sigmoid(1), sigmoid(2), sigmoid(-1), 5, 6, 7, 8, sigmoid(-2), .5, .25, .5, .75, .5});
}

TEST(HetRegionYolo, LogisticClassesOfTheMaskedRegions) {
  // Two regions of 2 coords and 1 class; the channels beyond them are left out.
  std::vector<double> values(2 * 9);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) / 4;
  const Tensor y = run_op_single(region(
      make_tensor<float>({2, 9, 1, 1}, values),
      make_attributes(
          {{"coords", 2}, {"classes", 1}, {"num", 9}, {"do_softmax", 0}, {"mask", Ints{3, 4}}})));
  std::vector<double> expected;
  for (const size_t image : {0u, 1u}) {
    for (size_t i = 0; i < 8; ++i) expected.push_back(sigmoid(values[image * 9 + i]));
  }
  expect_values<float>(y, {2, 8, 1, 1}, expected);
}

TEST(HetRegionYolo, CoordinatesBehindTheCentreStay) {
  const Tensor x = make_tensor<Float16>({1, 6, 1, 1}, {0, 0, 3, -4, 0, 0});
  expect_values<Float16>(
      run_op_single(region(
          x,
          make_attributes({{"coords", 4}, {"classes", 1}, {"do_softmax", 0}, {"mask", Ints{0}}}))),
      {1, 6, 1, 1}, {.5, .5, 3, -4, .5, .5});
}

TEST(HetRegionYolo, FlattensTheGivenAxes) {
  const Tensor x = make_ramp<float>({2, 6, 1, 3});
  const Attributes attributes =
      make_attributes({{"coords", 4}, {"classes", 1}, {"num", 1}, {"axis", -2}, {"end_axis", -1}});
  EXPECT_EQ(run_op_single(region(x, attributes)).shape(), (Shape{2, 6, 3}));
}

TEST(HetRegionYolo, RefusesBadInput) {
  const Tensor x = make_ramp<float>({1, 7, 1, 1});
  const auto expect = [&](const Attributes& attributes, const char* part) {
    expect_op_error(region(x, attributes), part);
  };
  expect(make_attributes({{"coords", 4}, {"classes", 2}, {"num", 2}}), "need 14 channels");
  expect(make_attributes({{"coords", 4}, {"classes", 2}, {"do_softmax", 0}, {"mask", Ints{1, 2}}}),
         "need 14 channels");
  expect(make_attributes({{"coords", 1}, {"classes", 5}, {"num", 1}}), "1 coords");
  expect(make_attributes({{"coords", 4}, {"classes", INT64_MAX}, {"num", INT64_MAX}}), "classes");
  expect(make_attributes({{"coords", 4}, {"classes", 2}, {"num", 1}, {"axis", 3}, {"end_axis", 1}}),
         "end_axis 1");
}

TEST(HetReorgYolo, MovesPixelsAsDarknetDoes) {
  // With one group the memory is one 4 x 4 picture; channel c takes every second pixel from
  // (c / 2, c % 2) on.
  expect_values<float>(run_op_single({"ReorgYolo",
                                      {make_ramp<float>({1, 4, 2, 2})},
                                      make_attributes({{"stride", 2}}),
                                      1,
                                      "het"}),
                       {1, 16, 1, 1}, {0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15});
  expect_op_error(
      {"ReorgYolo", {make_ramp<float>({1, 4, 2, 3})}, make_attributes({{"stride", 2}}), 1, "het"},
      "[1,4,2,3]");
  expect_op_error(
      {"ReorgYolo", {make_ramp<float>({1, 2, 2, 2})}, make_attributes({{"stride", 2}}), 1, "het"},
      "[1,2,2,2]");
  expect_op_error({"ReorgYolo",
                   {make_ramp<float>({1, 4, 2, 2})},
                   make_attributes({{"stride", int64_t{0}}}),
                   1,
                   "het"},
                  "stride is 0");
}

}  // namespace
}  // namespace het::op_testing
