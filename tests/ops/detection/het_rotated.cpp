#include <numbers>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

constexpr double kPi = std::numbers::pi;

std::vector<Tensor> selected(const std::vector<double>& boxes, double threshold, bool clockwise) {
  const auto count = static_cast<int64_t>(boxes.size()) / 5;
  std::vector<double> scores;
  for (int64_t i = 0; i < count; ++i) scores.push_back(1 - .1 * static_cast<double>(i));
  return run_op_ok({"NMSRotated",
                    {make_tensor<float>({1, count, 5}, boxes),
                     make_tensor<float>({1, 1, count}, scores), make_tensor<int64_t>({}, {9}),
                     make_tensor<float>({}, {threshold}), make_tensor<float>({}, {0})},
                    make_attributes({{"clockwise", int64_t{clockwise}}}),
                    3,
                    "het"});
}

TEST(HetNmsRotated, OverlapOfTurnedBoxes) {
  // A square and itself turned by 45 degrees share an octagon of area 2 sqrt(2) - 2: of the union
  // that is 1 / sqrt(2).
  const std::vector<double> boxes{5, 5, 1, 1, 0, 5, 5, 1, 1, kPi / 4};
  expect_values<int64_t>(selected(boxes, .70, true)[0], {1, 3}, {0, 0, 0});
  expect_values<int64_t>(selected(boxes, .71, true)[0], {2, 3}, {0, 0, 0, 0, 0, 1});
  // Turned by a right angle, a box of 4 by 2 and one of 2 by 4 are the same.
  const auto same = selected({3, 3, 4, 2, kPi / 2, 3, 3, 2, 4, 0}, .99, true);
  expect_values<int64_t>(same[0], {1, 3}, {0, 0, 0});
  expect_values<float>(same[1], {1, 3}, {0, 0, 1});
  expect_values<int64_t>(same[2], {1}, {1});
}

TEST(HetNmsRotated, DirectionOfTheTurn) {
  // A long box turned by 45 degrees reaches right and down where the turn is clockwise (y grows
  // downwards), right and up otherwise; the second box lies right and down.
  const std::vector<double> boxes{0, 0, 10, 1, kPi / 4, 3, 3, 1, 1, 0};
  expect_values<int64_t>(selected(boxes, .05, true)[2], {1}, {1});
  expect_values<int64_t>(selected(boxes, .05, false)[2], {1}, {2});
}

TEST(HetRoiAlignRotated, SamplesTurnWithTheRegion) {
  // Value = 3 row + column; the region's middle is the pixel in the middle.
  const auto pooled = [](double angle, int64_t clockwise, int64_t ratio) {
    return run_op_single(
        {"ROIAlignRotated",
         {make_ramp<float>({1, 1, 3, 3}), make_tensor<float>({1, 5}, {3, 3, 4, 4, angle}),
          make_tensor<int32_t>({1}, {0})},
         make_attributes({{"pooled_h", int64_t{2}},
                          {"pooled_w", int64_t{2}},
                          {"sampling_ratio", ratio},
                          {"spatial_scale", .5f},
                          {"clockwise_mode", clockwise}}),
         1,
         "het"});
  };
  expect_values<float>(pooled(0, 1, 1), {1, 1, 2, 2}, {2, 3, 5, 6});
  expect_values<float>(pooled(0, 1, 0), {1, 1, 2, 2}, {2, 3, 5, 6});
  expect_values<float>(pooled(kPi / 2, 1, 1), {1, 1, 2, 2}, {3, 6, 2, 5});
  expect_values<float>(pooled(kPi / 2, 0, 1), {1, 1, 2, 2}, {5, 2, 6, 3});
}

TEST(HetRoiAlignRotated, RefusesBadInput) {
  const auto expect = [](const Tensor& rois, double batch, const char* part) {
    expect_op_error({"ROIAlignRotated",
                     {make_ramp<float>({1, 1, 3, 3}), rois, make_tensor<int64_t>({1}, {batch})},
                     make_attributes({{"pooled_h", int64_t{2}}, {"pooled_w", int64_t{2}}}),
                     1,
                     "het"},
                    part);
  };
  expect(make_ramp<float>({1, 4}), 0, "rois [1,4]");
  expect(make_ramp<float>({1, 5}), 1, "batch_indices contains 1");
  expect(make_tensor<float>({1, 5}, {0, 0, 1e9, 1, 0}), 0, "more than 65536 samples");
}

}  // namespace
}  // namespace het::op_testing
