#include <cmath>
#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Attributes proposal_attributes(
    std::initializer_list<std::pair<std::string_view, Attribute>> more = {}) {
  Attributes list = make_attributes({{"base_size", 4},
                                     {"pre_nms_topn", 10},
                                     {"post_nms_topn", 3},
                                     {"nms_thresh", .5f},
                                     {"feat_stride", 4},
                                     {"min_size", 1},
                                     {"ratio", Floats{1}},
                                     {"scale", Floats{1}}});
  for (const auto& [name, value] : more) list.set(std::string(name), value);
  return list;
}

/// One anchor at 1 x 2 points of a picture of height 16 and width 20; foreground scores.
std::vector<Tensor> propose(const std::vector<double>& scores, const std::vector<double>& deltas,
                            const Attributes& list) {
  std::vector<double> probabilities{0, 0};
  probabilities.insert(probabilities.end(), scores.begin(), scores.end());
  return run_op_ok(
      {"Proposal",
       {make_tensor<float>({1, 2, 1, 2}, probabilities), make_tensor<float>({1, 4, 1, 2}, deltas),
        make_tensor<float>({3}, {16, 20, 1})},
       list,
       2,
       "het"});
}

const std::vector<double> kNoDeltas(8, 0.0);

TEST(HetProposal, AnchorsAtEveryPointByScore) {
  // Caffe: the anchor of size 4 covers pixels 0 to 3; a box of 4 pixels has its centre at 2, so
  // that decoding gives 0 to 4. The second point is 4 pixels further right.
  const std::vector<Tensor> y = propose({.25, .75}, kNoDeltas, proposal_attributes());
  expect_values<float>(y[0], {3, 5}, {0, 4, 0, 8, 4, 0, 0, 0, 4, 4, -1, 0, 0, 0, 0});
  expect_values<float>(y[1], {3}, {.75, .25, 0});
}

TEST(HetProposal, DeltasMoveAndStretch) {
  // dx .5, dy .25 of the size 4, width times 2, height times 1.5: centre (4, 3), 8 x 6.
  const std::vector<double> deltas{.5, 9, .25, 9, std::log(2.), 0, std::log(1.5), 0};
  const Attributes one = proposal_attributes({{"post_nms_topn", 1}});
  expect_values<float>(propose({.75, .25}, deltas, one)[0], {1, 5}, {0, 0, 0, 8, 6});
  // Scales divide the deltas before decoding.
  std::vector<double> scaled = deltas;
  for (size_t i = 0; i < 4; ++i) scaled[i] *= 10;
  for (size_t i = 4; i < 8; ++i) scaled[i] *= 5;
  Attributes scales = one;
  scales.set("box_coordinate_scale", 10.0f);
  scales.set("box_size_scale", 5.0f);
  expect_values<float>(propose({.75, .25}, scaled, scales)[0], {1, 5}, {0, 0, 0, 8, 6});
  Attributes parts = one;
  parts.set("normalize", int64_t{1});
  expect_values<float>(propose({.75, .25}, deltas, parts)[0], {1, 5}, {0, 0, 0, .4, .375});
}

TEST(HetProposal, ClipsBeforeOrAfterSuppression) {
  // dx -1: x from -4 to 0. Before: pixels 0 to width - 1; after: 0 to width.
  const std::vector<double> deltas{-1, 9, 4, 9, 0, 0, 0, 0};
  const auto box = [&](int64_t before, int64_t after) {
    return propose(
        {.75, .25}, deltas,
        proposal_attributes(
            {{"post_nms_topn", 1}, {"clip_before_nms", before}, {"clip_after_nms", after}}))[0];
  };
  expect_values<float>(box(0, 0), {1, 5}, {0, -4, 16, 0, 20});
  expect_values<float>(box(1, 0), {1, 5}, {0, 0, 15, 0, 15});
  expect_values<float>(box(0, 1), {1, 5}, {0, 0, 16, 0, 16});
}

TEST(HetProposal, SuppressesTooSmallAndOverlappingBoxes) {
  // The second point moves back onto the first one.
  const std::vector<double> deltas{0, -1, 0, 0, 0, 0, 0, 0};
  const std::vector<Tensor> y = propose({.25, .75}, deltas, proposal_attributes());
  expect_values<float>(y[0], {3, 5}, {0, 0, 0, 4, 4, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  expect_values<float>(y[1], {3}, {.75, 0, 0});
  // Pixels 0 to 4 are five, fewer than 6: the scores become 0, the boxes stay.
  const std::vector<Tensor> small =
      propose({.25, .75}, kNoDeltas, proposal_attributes({{"min_size", 6}, {"post_nms_topn", 1}}));
  expect_values<float>(small[0], {1, 5}, {0, 0, 0, 4, 4});
  expect_values<float>(small[1], {1}, {0});
  // Only the best candidate takes part.
  expect_values<float>(
      propose({.25, .75}, kNoDeltas, proposal_attributes({{"pre_nms_topn", 1}}))[1], {3},
      {.75, 0, 0});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  expect_values<float>(propose({nan, .75}, kNoDeltas, proposal_attributes())[1], {3}, {.75, 0, 0});
}

TEST(HetProposal, TensorFlowsAnchors) {
  // Anchors lie around their point and are clipped first: x and y change places, so that the
  // second point is (0, 4); its box is x 0 to 2, y 2 to 6.
  const std::vector<Tensor> y =
      propose({.25, .75}, kNoDeltas,
              proposal_attributes({{"framework", "tensorflow"}, {"post_nms_topn", 1}}));
  expect_values<float>(y[0], {1, 5}, {0, 0, 2, 2, 6});
  // x counts rows, so it ends at the height.
  expect_values<float>(
      propose({.25, .75}, kNoDeltas,
              proposal_attributes(
                  {{"framework", "tensorflow"}, {"base_size", 64}, {"post_nms_topn", 1}}))[0],
      {1, 5}, {0, 0, 0, 16, 20});
}

TEST(HetProposal, RatiosAndScalesOfSeveralImages) {
  // Ratio 4 of 16: width 4, rounded height 4 * 4 = 16... of base 8: width sqrt(64 / 4) = 4.
  const Attributes list = proposal_attributes({{"base_size", 8},
                                               {"ratio", Floats{4}},
                                               {"scale", Floats{1, .5f}},
                                               {"clip_before_nms", 0},
                                               {"post_nms_topn", 2}});
  std::vector<double> scores(8, 0.0);
  scores[2] = .5;   // image 0, scale 1
  scores[3] = .25;  // image 0, scale .5
  scores[6] = .25;  // image 1
  scores[7] = .5;
  const Tensor y = run_op_single({"Proposal",
                                  {make_tensor<float>({2, 4, 1, 1}, scores),
                                   make_tensor<float>({2, 8, 1, 1}, std::vector<double>(16)),
                                   make_tensor<float>({4}, {64, 64, 1, 1})},
                                  list,
                                  1,
                                  "het"});
  // Centre 3.5: x from 3.5 - 1.5, 4 wide; y from 3.5 - 7.5, 16 high. Half: x from 3, y from 0.
  expect_values<float>(y, {4, 5}, {0, 2, -4, 6, 12, 0, 3, 0,  5, 8,  //
                                   1, 3, 0,  5, 8,  1, 2, -4, 6, 12});
}

TEST(HetProposal, RefusesBadInput) {
  const auto expect = [](const Attributes& list, const char* part,
                         const Shape& deltas = {1, 4, 1, 2}, int64_t sizes = 3) {
    expect_op_error(
        {"Proposal",
         {make_ramp<float>({1, 2, 1, 2}), make_ramp<float>(deltas), make_ramp<float>({sizes})},
         list,
         2,
         "het"},
        part);
  };
  expect(proposal_attributes({{"post_nms_topn", int64_t{0}}}), "post_nms_topn is 0");
  expect(proposal_attributes({{"pre_nms_topn", -1}}), "pre_nms_topn is -1");
  expect(proposal_attributes({{"base_size", 1 << 30}}), "base_size is 1073741824");
  expect(proposal_attributes({{"framework", "torch"}}), "'torch'");
  expect(proposal_attributes({{"ratio", Floats{-1}}}), "ratio contains -1");
  expect(proposal_attributes({{"scale", Floats{1, 2}}}), "2 anchors");
  expect(proposal_attributes(), "bbox_deltas [1,4,2,1]", {1, 4, 2, 1});
  expect(proposal_attributes(), "3 or 4 values", {1, 4, 1, 2}, 2);
}

}  // namespace
}  // namespace het::op_testing
