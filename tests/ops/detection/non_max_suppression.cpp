#include <cmath>
#include <limits>
#include <optional>
#include <random>

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

/// As the definition says it, box against box.
std::vector<int64_t> expected(const std::vector<double>& boxes, size_t count, float threshold) {
  const auto side = [&](size_t box, size_t k) { return static_cast<float>(boxes[4 * box + k]); };
  std::vector<int64_t> kept;
  for (size_t i = 0; i < count; ++i) {
    bool good = true;
    for (const int64_t index : kept) {
      const auto k = static_cast<size_t>(index);
      const float height = std::min(side(i, 2), side(k, 2)) - std::max(side(i, 0), side(k, 0));
      const float width = std::min(side(i, 3), side(k, 3)) - std::max(side(i, 1), side(k, 1));
      const float both = width * height;
      const auto area = [&](size_t box) {
        return (side(box, 2) - side(box, 0)) * (side(box, 3) - side(box, 1));
      };
      good = good && !(width > 0 && height > 0 && both / (area(i) + area(k) - both) > threshold);
    }
    if (good) kept.push_back(static_cast<int64_t>(i));
  }
  return kept;
}

/// Classes apart by an offset, as exporters write them, wide and narrow boxes, few and many; a box
/// without a number or an end overlaps nothing and changes nothing.
TEST(NonMaxSuppression, ManyBoxesAsOneByOne) {
  std::mt19937 generator(7);
  const auto draw = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(generator);
  };
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double offset : {0.0, 320.0, 1e6}) {
    for (const double widest : {3.0, 40.0, 300.0}) {
      for (const double odd : {0.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
        for (const size_t count : {1, 2, 70, 700}) {
          std::vector<double> boxes;
          std::vector<double> scores;
          for (size_t i = 0; i < count; ++i) {
            const double place = offset * std::floor(draw(0, 9));
            const double y = place + draw(0, 300), x = place + draw(0, 300);
            boxes.insert(boxes.end(), {y, x, y + draw(0.5, widest), x + draw(0.5, widest)});
            scores.push_back(1.0 - 1e-3 * static_cast<double>(i));
          }
          if (odd != 0.0 && count > 2) boxes[4] = boxes[5] = boxes[6] = boxes[7] = odd;
          const auto n = static_cast<int64_t>(count);
          const Tensor got = suppress(make_tensor<float>({1, n, 4}, boxes),
                                      make_tensor<float>({1, 1, n}, scores), n, 0.3f, {});
          std::vector<int64_t> indices;
          for (int64_t i = 0; i < got.shape()[0]; ++i)
            indices.push_back(got.data<int64_t>()[3 * i + 2]);
          ASSERT_EQ(indices, expected(boxes, count, 0.3f))
              << offset << " " << widest << " " << count;
        }
      }
    }
  }
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
