#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// Boxes 0 and 1 overlap by 1/3 (2 of 6), box 2 lies apart.
const std::vector<double> kThree{0, 0, 2, 2, 1, 0, 3, 2, 9, 9, 10, 10};

std::vector<Tensor> select(const char* type, const std::vector<double>& scores, int64_t classes,
                           const Attributes& attributes) {
  return run_op_ok(
      {type,
       {make_tensor<float>({1, 3, 4}, kThree), make_tensor<float>({1, classes, 3}, scores)},
       attributes,
       3,
       "het"});
}

TEST(HetMulticlassNms, SuppressesPerClassAndKeepsTheBest) {
  const std::vector<double> scores{.5, .9, .3, .8, .1, .7};
  const auto y = select(
      "MulticlassNms", scores, 2,
      make_attributes(
          {{"iou_threshold", .3f}, {"score_threshold", .2f}, {"sort_result_type", "classid"}}));
  expect_values<float>(y[0], {4, 6}, {0, .9, 1, 0, 3, 2, 0, .3, 9, 9, 10, 10,
                                      1, .8, 0, 0, 2, 2, 1, .7, 9, 9, 10, 10});
  expect_values<int64_t>(y[1], {4, 1}, {1, 2, 0, 2});
  expect_values<int64_t>(y[2], {1}, {4});
  const auto best = select("MulticlassNms", scores, 2,
                           make_attributes({{"iou_threshold", .4f},
                                            {"keep_top_k", int64_t{3}},
                                            {"background_class", int64_t{1}},
                                            {"nms_top_k", int64_t{2}},
                                            {"output_type", "i32"},
                                            {"sort_result_type", "score"}}));
  expect_values<int32_t>(best[1], {2, 1}, {1, 0});
  expect_values<int32_t>(best[2], {1}, {2});
}

TEST(HetMulticlassNms, EtaLowersTheThreshold) {
  // Three boxes of one row: 0 and 1 overlap by 0.6, 1 and 2 by 0.6, 0 and 2 by 1/3. Threshold 0.65
  // keeps all; after the first it is 0.39 with eta 0.6, so that the second falls.
  const Tensor boxes = make_tensor<float>({1, 3, 4}, {0, 0, 4, 1, 1, 0, 5, 1, 2, 0, 6, 1});
  const Tensor scores = make_tensor<float>({1, 1, 3}, {.9, .8, .7});
  const auto kept = [&](float eta) {
    return run_op_ok({"MulticlassNms",
                      {boxes, scores},
                      make_attributes({{"iou_threshold", .65f}, {"nms_eta", eta}}),
                      3,
                      "het"})[1];
  };
  expect_values<int64_t>(kept(1), {3, 1}, {0, 1, 2});
  expect_values<int64_t>(kept(.6f), {2, 1}, {0, 2});
}

TEST(HetMulticlassNms, BoxesHalfAPixelApart) {
  // Two boxes of 5 x 5 pixels. Columns 4 to 4 are common: 5 / 45. Half a pixel apart: 2.5 / 47.5
  // for MulticlassNms, nothing for MatrixNms.
  const auto run = [](const char* type, double left) {
    return run_op_ok({type,
                      {make_tensor<float>({1, 2, 4}, {0, 0, 4, 4, left, 0, left + 4, 4}),
                       make_tensor<float>({1, 1, 2}, {.9, .8})},
                      make_attributes({{"normalized", int64_t{0}}, {"iou_threshold", .05f}}),
                      3,
                      "het"});
  };
  const auto scores = [](const Tensor& rows) {
    const auto values = rows.values<float>();
    return std::vector<float>{values[1], values[7]};
  };
  EXPECT_EQ(run("MulticlassNms", 4.5)[1].element_count(), 1);
  EXPECT_EQ(run("MulticlassNms", 5.5)[1].element_count(), 2);
  EXPECT_NEAR(scores(run("MatrixNms", 4)[0])[1], .8 * 40 / 45, 1e-6);
  EXPECT_NEAR(scores(run("MatrixNms", 4.5)[0])[1], .8, 1e-6);
}

TEST(HetMulticlassNms, ImagesBehindEachOther) {
  const auto y =
      run_op_ok({"MulticlassNms",
                 {make_tensor<float>({1, 3, 4}, kThree), make_tensor<float>({1, 3}, {.5, .9, .3}),
                  make_tensor<int64_t>({2}, {1, 2})},
                 make_attributes({{"iou_threshold", .3f}}),
                 3,
                 "het"});
  // Boxes 0 and 1 are of different images now.
  expect_values<int64_t>(y[1], {3, 1}, {0, 1, 2});
  expect_values<int64_t>(y[2], {2}, {1, 2});
}

TEST(HetMatrixNms, ScoresFade) {
  // Box 0 fades by 1 - 1/3 (linear), or exp(-2 / 9) (sigma 2).
  const std::vector<double> scores{.6, .9, .3};
  const auto linear =
      select("MatrixNms", scores, 1, make_attributes({{"sort_result_type", "score"}}));
  expect_values<float>(linear[0], {3, 6},
                       {0, .9, 1, 0, 3, 2, 0, .4, 0, 0, 2, 2, 0, .3, 9, 9, 10, 10});
  const auto gaussian =
      select("MatrixNms", scores, 1,
             make_attributes({{"decay_function", "gaussian"}, {"post_threshold", .35f}}));
  expect_values<float>(gaussian[0], {2, 6},
                       {0, .9, 1, 0, 3, 2, 0, .6 * std::exp(-2.0 / 9), 0, 0, 2, 2});
  expect_values<int64_t>(gaussian[2], {1}, {2});
}

TEST(HetMulticlassNms, RefusesBadInput) {
  const auto expect = [](const Attributes& attributes, const char* part) {
    expect_op_error({"MulticlassNms",
                     {make_ramp<float>({1, 3, 4}), make_ramp<float>({1, 2, 3})},
                     attributes,
                     3,
                     "het"},
                    part);
  };
  expect(make_attributes({{"sort_result_type", "size"}}), "'size'");
  expect(make_attributes({{"output_type", "f32"}}), "must be i32 or i64");
  expect_op_error(
      {"MatrixNms", {make_ramp<float>({1, 3, 4}), make_ramp<float>({1, 2, 2})}, {}, 3, "het"},
      "scores [1,2,2]");
  expect_op_error(
      {"MulticlassNms",
       {make_ramp<float>({1, 3, 4}), make_ramp<float>({1, 3}), make_tensor<int64_t>({2}, {2, 2})},
       {},
       3,
       "het"},
      "roisnum gives image 1 2 boxes from box 2 on, but there are 3");
}

}  // namespace
}  // namespace het::op_testing
