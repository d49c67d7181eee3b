#include <limits>
#include <optional>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// Two groups of overlapping boxes and a far one: [y, x, y, x].
const std::vector<double> kBoxes{0, 0,    1, 1,    0, 0.1,  1, 1.1,  0, -.1, 1, .9,
                                 0, 10.0, 1, 11.0, 0, 10.1, 1, 11.1, 0, 100, 1, 101};
const std::vector<double> kScores{.9, .75, .6, .95, .5, .3};

Tensor suppress(const Tensor& boxes, const Tensor& scores, int64_t limit, float iou,
                std::optional<float> score, int64_t center = 0) {
  std::vector<Tensor> inputs{boxes, scores, int64_tensor({limit}), Tensor::scalar(iou)};
  if (score) inputs.push_back(Tensor::from<float>({1}, {*score}));
  return run_op_single(
      {"NonMaxSuppression", inputs, make_attributes({{"center_point_box", center}})});
}

TEST(NonMaxSuppression, KeepsTheBestOfOverlappingBoxes) {
  const Tensor boxes = make_tensor<float>({1, 6, 4}, kBoxes);
  const Tensor scores = make_tensor<float>({1, 1, 6}, kScores);
  expect_values<int64_t>(suppress(boxes, scores, 3, .5f, 0.0f), {3, 3},
                         {0, 0, 3, 0, 0, 0, 0, 0, 5});
  expect_values<int64_t>(suppress(boxes, scores, 2, .5f, {}), {2, 3}, {0, 0, 3, 0, 0, 0});
  expect_values<int64_t>(suppress(boxes, scores, 9, .5f, .4f), {2, 3}, {0, 0, 3, 0, 0, 0});
  expect_values<int64_t>(suppress(boxes, scores, 9, 1.0f, .55f), {4, 3},
                         {0, 0, 3, 0, 0, 0, 0, 0, 1, 0, 0, 2});
}

TEST(NonMaxSuppression, CornersInAnyOrderAndCentres) {
  const Tensor scores = make_tensor<float>({1, 1, 3}, {.5, .9, .7});
  const Tensor corners = make_tensor<float>({1, 3, 4}, {1, 1, 0, 0, 0, .9, 1, -.1, 0, 6, 1, 5});
  expect_values<int64_t>(suppress(corners, scores, 9, .5f, {}), {2, 3}, {0, 0, 1, 0, 0, 2});
  const Tensor centres = make_tensor<float>({1, 3, 4}, {.5, .5, 1, 1, .4, .5, 1, 1, 5.5, .5, 1, 1});
  expect_values<int64_t>(suppress(centres, scores, 9, .5f, {}, 1), {2, 3}, {0, 0, 1, 0, 0, 2});
}

TEST(NonMaxSuppression, BatchesAndClassesAreSeparate) {
  const Tensor boxes = make_tensor<float>({2, 2, 4}, {0, 0, 1, 1, 0, 0, 1, 1,  //
                                                      0, 0, 1, 1, 5, 5, 6, 6});
  const Tensor scores = make_tensor<float>({2, 2, 2}, {.1, .2, .4, .3, .5, .6, .8, .8});
  expect_values<int64_t>(suppress(boxes, scores, 5, .5f, {}), {6, 3},
                         {0, 0, 1, 0, 1, 0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 1, 1, 1});
}

TEST(NonMaxSuppression, DefaultsKeepNothing) {
  const Tensor boxes = make_tensor<float>({1, 6, 4}, kBoxes);
  const Tensor scores = make_tensor<float>({1, 1, 6}, kScores);
  expect_values<int64_t>(run_op_single({"NonMaxSuppression", {boxes, scores}}), {0, 3}, {});
  expect_values<int64_t>(suppress(boxes, scores, -4, .5f, {}), {0, 3}, {});
  expect_values<int64_t>(
      suppress(make_tensor<float>({1, 0, 4}, {}), make_tensor<float>({1, 2, 0}, {}), 5, .5f, {}),
      {0, 3}, {});
}

TEST(NonMaxSuppression, NanScoresAreNeverKept) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor boxes = make_tensor<float>({1, 2, 4}, {0, 0, 1, 1, 5, 5, 6, 6});
  const Tensor scores = make_tensor<float>({1, 1, 2}, {nan, .5});
  expect_values<int64_t>(suppress(boxes, scores, 5, .5f, {}), {1, 3}, {0, 0, 1});
  expect_values<int64_t>(suppress(boxes, scores, 5, .5f, .1f), {1, 3}, {0, 0, 1});
}

TEST(NonMaxSuppression, RefusesBadInput) {
  const Tensor boxes = make_tensor<float>({1, 6, 4}, kBoxes);
  const Tensor scores = make_tensor<float>({1, 1, 6}, kScores);
  const char* type = "NonMaxSuppression";
  expect_op_error({type, {boxes, make_ramp<float>({1, 1, 5})}}, "[1,1,5]");
  expect_op_error({type, {boxes, make_ramp<float>({2, 1, 6})}}, "[2,1,6]");
  expect_op_error({type, {make_ramp<float>({1, 6, 5}), scores}}, "[1,6,5]");
  expect_op_error({type, {boxes, scores, int64_tensor({1, 2})}}, "must be one value");
  expect_op_error({type, {boxes, scores, int64_tensor({1}), Tensor::scalar(1.5f)}},
                  "iou_threshold is 1.5");
  expect_op_error({type, {boxes, scores}, make_attributes({{"center_point_box", 2}})},
                  "center_point_box is 2");
}

}  // namespace
}  // namespace het::op_testing
