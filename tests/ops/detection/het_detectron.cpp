#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(HetDetectron, PriorsAroundTheMiddleOfEveryCell) {
  // A grid of 1 x 2 over a picture of 8 x 20: steps of 10 and 8.
  const auto grid = [](int64_t columns) {
    return OpCall{"ExperimentalDetectronPriorGridGenerator",
                  {make_tensor<float>({1, 4}, {-1, -2, 1, 2}), make_ramp<float>({1, 1, 1, 2}),
                   make_ramp<float>({1, 1, 8, 20})},
                  make_attributes({{"flatten", int64_t{1}}, {"w", columns}}),
                  1,
                  "het"};
  };
  expect_values<float>(run_op_single(grid(0)), {2, 4}, {4, 2, 6, 6, 14, 2, 16, 6});
  expect_op_error(grid(3), "h is 0 and w 3");
}

/// Anchors [0, 0, 4, 4] and [0, 0, 2, 2] of one place. The first moves right by half its width and
/// becomes twice as high: [2, -2, 6, 6], cut off at the border.
const std::vector<double> kAnchors{0, 0, 4, 4, 0, 0, 2, 2};
const std::vector<double> kDeltas{.5, 0, 0, std::log(2.0), 0, 0, 0, 0};

TEST(HetDetectron, GenerateProposalsMovesAnchors) {
  const auto run = [](int64_t best) {
    return run_op_ok(
        {"GenerateProposals",
         {make_tensor<float>({1, 3}, {10, 10, 1}), make_tensor<float>({1, 1, 2, 4}, kAnchors),
          make_tensor<float>({1, 8, 1, 1}, kDeltas), make_tensor<float>({1, 2, 1, 1}, {.5, .9})},
         make_attributes({{"min_size", 3.0f},
                          {"nms_threshold", .7f},
                          {"pre_nms_count", best},
                          {"post_nms_count", int64_t{10}},
                          {"normalized", int64_t{1}},
                          {"roi_num_type", "i32"}}),
         3,
         "het"});
  };
  // The second one is too small.
  const auto y = run(10);
  expect_values<float>(y[0], {1, 4}, {2, 0, 6, 6});
  expect_values<float>(y[1], {1}, {.5});
  expect_values<int32_t>(y[2], {1}, {1});
  // It is among the best nevertheless.
  expect_values<float>(run(1)[0], {0, 4}, {});
}

TEST(HetDetectron, ProposalsOfASingleImageFillTheirRows) {
  // Coordinates name pixels: the second anchor is 3 x 3 and stays, whatever the image's scale. It
  // overlaps the first by 4/16, without a border (with one by 9/25).
  const auto y =
      run_op_ok({"ExperimentalDetectronGenerateProposalsSingleImage",
                 {make_tensor<float>({3}, {10, 10, 2}), make_tensor<float>({2, 4}, kAnchors),
                  make_tensor<float>({8, 1, 1}, std::vector<double>(8)),
                  make_tensor<float>({2, 1, 1}, {.5, .9})},
                 make_attributes({{"min_size", 3.0f},
                                  {"nms_threshold", .3f},
                                  {"pre_nms_count", int64_t{10}},
                                  {"post_nms_count", int64_t{3}}}),
                 2,
                 "het"});
  expect_values<float>(y[0], {3, 4}, {0, 0, 2, 2, 0, 0, 4, 4, 0, 0, 0, 0});
  expect_values<float>(y[1], {3}, {.9, .5, 0});
}

TEST(HetDetectron, TooSmallProposalsOfASingleImageHaveNoScore) {
  const auto y =
      run_op_ok({"ExperimentalDetectronGenerateProposalsSingleImage",
                 {make_tensor<float>({3}, {10, 10, 1}), make_tensor<float>({2, 4}, kAnchors),
                  make_tensor<float>({8, 1, 1}, std::vector<double>(8)),
                  make_tensor<float>({2, 1, 1}, {.5, .9})},
                 make_attributes({{"min_size", 4.0f},
                                  {"nms_threshold", .7f},
                                  {"pre_nms_count", int64_t{10}},
                                  {"post_nms_count", int64_t{2}}}),
                 2,
                 "het"});
  expect_values<float>(y[0], {2, 4}, {0, 0, 4, 4, 0, 0, 2, 2});
  expect_values<float>(y[1], {2}, {.5, 0});
}

TEST(HetDetectron, DetectionsPerClass) {
  // Two equal regions of 10 x 10 pixels and one without an area. Class 1 moves them right by a
  // tenth: 1 to 10, beyond the image. The second region falls there; class 2 leaves it alone, its
  // first is below the threshold.
  const Tensor deltas = make_tensor<float>({3, 12}, {0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,  //
                                                     0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,  //
                                                     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto call = [&](int64_t classes, int64_t rows) {
    return OpCall{"ExperimentalDetectronDetectionOutput",
                  {make_tensor<float>({3, 4}, {0, 0, 9, 9, 0, 0, 9, 9, 5, 0, 5, 9}), deltas,
                   make_tensor<float>({3, 3}, {.9, .6, .1, .9, .5, .7, .9, .9, .9}),
                   make_tensor<float>({1, 3}, {20, 8, 1})},
                  make_attributes({{"score_threshold", .2f},
                                   {"nms_threshold", .5f},
                                   {"max_delta_log_wh", 4.0f},
                                   {"num_classes", classes},
                                   {"post_nms_count", int64_t{9}},
                                   {"max_detections_per_image", rows},
                                   {"deltas_weights", Floats{10, 10, 5, 5}}}),
                  3,
                  "het"};
  };
  // Class after class.
  const auto y = run_op_ok(call(3, 3));
  expect_values<float>(y[0], {3, 4}, {1, 0, 10, 9, 0, 0, 9, 9, 0, 0, 0, 0});
  expect_values<int32_t>(y[1], {3}, {1, 2, 0});
  expect_values<float>(y[2], {3}, {.6, .7, 0});
  // More than there are rows: the best.
  const auto best = run_op_ok(call(3, 1));
  expect_values<int32_t>(best[1], {1}, {2});
  expect_values<float>(best[2], {1}, {.7});
  expect_op_error(call(4, 3), "deltas [3,12]");
}

}  // namespace
}  // namespace het::op_testing
