#include <cmath>
#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// Three priors, corners coded, no variances: logits are shifts of the sides.
const std::vector<double> kPriors{0, 0, .4, .4, .05, 0, .45, .4, .5, .5, .9, .9};

Attributes attributes(std::initializer_list<std::pair<std::string_view, Attribute>> more = {}) {
  Attributes list = make_attributes({{"keep_top_k", Ints{4}},
                                     {"nms_threshold", .5f},
                                     {"confidence_threshold", .1f},
                                     {"normalized", 1},
                                     {"variance_encoded_in_target", 1},
                                     {"code_type", "caffe.PriorBoxParameter.CORNER"}});
  for (const auto& [name, value] : more) list.set(std::string(name), value);
  return list;
}

OpCall detection(const std::vector<double>& scores, const Attributes& list,
                 std::vector<double> logits = std::vector<double>(12)) {
  const auto values = static_cast<int64_t>(logits.size());
  return {"DetectionOutput",
          {make_tensor<float>({1, values}, logits),
           make_tensor<float>({1, static_cast<int64_t>(scores.size())}, scores),
           make_tensor<float>({1, 1, 12}, kPriors)},
          list,
          1,
          "het"};
}

/// Rows are padded to `rows` after the end mark.
void expect_rows(const OpCall& call, int64_t rows, std::vector<std::vector<double>> expected) {
  if (static_cast<int64_t>(expected.size()) < rows) expected.push_back({-1, 0, 0, 0, 0, 0, 0});
  std::vector<double> values;
  for (const auto& row : expected) values.insert(values.end(), row.begin(), row.end());
  values.resize(static_cast<size_t>(rows * 7));
  expect_values<float>(run_op_single(call), {1, 1, rows, 7}, values);
}

// Priors 0 and 1 overlap by .35 / .45 = .78.
const std::vector<double> kBox0{0, 0, .4, .4};
const std::vector<double> kBox1{.05, 0, .45, .4};
const std::vector<double> kBox2{.5, .5, .9, .9};

std::vector<double> row(double image, double label, double score, const std::vector<double>& box) {
  return {image, label, score, box[0], box[1], box[2], box[3]};
}

TEST(HetDetectionOutput, SuppressesPerClassAndSkipsTheBackground) {
  // Scores of (background, a, b) per prior.
  const std::vector<double> scores{.9, .3, .2, .9, .6, .05, .9, .5, .7};
  expect_rows(
      detection(scores, attributes()), 4,
      {row(0, 1, .6, kBox1), row(0, 1, .5, kBox2), row(0, 2, .7, kBox2), row(0, 2, .2, kBox0)});
  // Without a background class 0 counts too; only the best four stay, ordered by class.
  expect_rows(
      detection(scores, attributes({{"background_label_id", -1}})), 4,
      {row(0, 0, .9, kBox0), row(0, 0, .9, kBox2), row(0, 1, .6, kBox1), row(0, 2, .7, kBox2)});
  // A higher threshold lets overlapping boxes stay.
  expect_rows(
      detection(scores, attributes({{"nms_threshold", .8f}})), 4,
      {row(0, 1, .6, kBox1), row(0, 1, .5, kBox2), row(0, 1, .3, kBox0), row(0, 2, .7, kBox2)});
}

TEST(HetDetectionOutput, TheScoreMustBeAboveTheThreshold) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> scores{0, .5, 0, nan, 0, .625};
  expect_rows(detection(scores, attributes({{"confidence_threshold", .5f}})), 4,
              {row(0, 1, .625, kBox2)});
}

TEST(HetDetectionOutput, TopKLimitsTheCandidatesBeforeSuppression) {
  const std::vector<double> scores{0, .8, 0, .7, 0, .6};
  expect_rows(detection(scores, attributes({{"top_k", 2}})), 4, {row(0, 1, .8, kBox0)});
  expect_rows(detection(scores, attributes({{"keep_top_k", Ints{1}}})), 1, {row(0, 1, .8, kBox0)});
  // Number of rows: top_k * classes, or priors * classes.
  expect_rows(detection(scores, attributes({{"keep_top_k", Ints{-1}}, {"top_k", 1}})), 2,
              {row(0, 1, .8, kBox0)});
  expect_rows(detection(scores, attributes({{"keep_top_k", Ints{-1}}})), 6,
              {row(0, 1, .8, kBox0), row(0, 1, .6, kBox2)});
}

TEST(HetDetectionOutput, MxNetsWayTakesTheBestClassOfAPrior) {
  // Prior 0 is best in class 2, prior 1 in class 1: they do not compete. Labels are one lower; a
  // score equal to the threshold passes.
  const std::vector<double> scores{.9, .3, .4, .9, .6, .05, .9, .1, .05};
  expect_rows(detection(scores, attributes({{"decrease_label_id", 1}})), 4,
              {row(0, 0, .6, kBox1), row(0, 0, .1, kBox2), row(0, 1, .4, kBox0)});
  // top_k counts all classes together.
  expect_rows(detection(scores, attributes({{"decrease_label_id", 1}, {"top_k", 1}})), 4,
              {row(0, 0, .6, kBox1)});
}

/// One prior at (.2, .4) to (.6, .8) with the given logits and variances.
std::vector<float> decode(const std::string& code, const std::vector<double>& logits,
                          const std::vector<double>& variances = {},
                          std::initializer_list<std::pair<std::string_view, Attribute>> more = {}) {
  Attributes list = attributes(more);
  list.set("code_type", code);
  std::vector<double> priors{.2, .4, .6, .8};
  priors.insert(priors.end(), variances.begin(), variances.end());
  list.set("variance_encoded_in_target", int64_t{variances.empty() ? 1 : 0});
  const Tensor output =
      run_op_single({"DetectionOutput",
                     {make_tensor<float>({1, 4}, logits), make_tensor<float>({1, 2}, {0, 1}),
                      make_tensor<float>({1, variances.empty() ? 1 : 2, 4}, priors)},
                     list,
                     1,
                     "het"});
  if (output.empty()) return {};
  const std::span<float> values = output.values<float>();
  return {values.begin() + 3, values.begin() + 7};
}

void expect_box(const std::vector<float>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), 4u);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(actual[i], expected[i], 1e-6) << i;
}

TEST(HetDetectionOutput, CodesOfBoxes) {
  // Corners: shifts, in parts of the picture or of the prior's size .4.
  expect_box(decode("caffe.PriorBoxParameter.CORNER", {.1, .2, -.1, .1}), {.3, .6, .5, .9});
  expect_box(decode("caffe.PriorBoxParameter.CORNER_SIZE", {.5, .25, -.5, .25}), {.4, .5, .4, .9});
  // The centre (.4, .6) moves by (.25, -.5) * .4; sizes are .4 * exp(log(.5)) and .4 * 2.
  expect_box(decode("caffe.PriorBoxParameter.CENTER_SIZE", {.25, -.5, std::log(.5), std::log(2.)}),
             {.4, 0, .6, .8});
  expect_box(decode("center_size", {.25, -.5, std::log(.5), std::log(2.)}), {.4, 0, .6, .8});
}

TEST(HetDetectionOutput, VariancesScaleTheLogits) {
  const std::vector<double> variances{.1, .2, .5, .25};
  expect_box(decode("caffe.PriorBoxParameter.CORNER", {1, 1, -.2, .4}, variances),
             {.3, .6, .5, .9});
  expect_box(decode("caffe.PriorBoxParameter.CENTER_SIZE",
                    {2.5, -2.5, std::log(.5) / .5, std::log(2.) / .25}, variances),
             {.4, 0, .6, .8});
}

TEST(HetDetectionOutput, ClipsBeforeOrAfter) {
  const std::vector<double> outside{-.5, 0, 1, 0};
  expect_box(decode("CORNER", outside), {-.3, .4, 1.6, .8});
  expect_box(decode("CORNER", outside, {}, {{"clip_before_nms", 1}}), {0, .4, 1, .8});
  expect_box(decode("CORNER", outside, {}, {{"clip_after_nms", 1}}), {0, .4, 1, .8});
  // Before: boxes 0 and 1 become equal and one is suppressed; after: their overlap is .5 / 1.5.
  const std::vector<double> scores{0, .8, 0, .7, 0, 0};
  const std::vector<double> logits{0, 0, .6, .6, -.05, 0, 1.55, .6, 0, 0, 0, 0};
  const OpCall before = detection(scores, attributes({{"clip_before_nms", 1}}), logits);
  expect_rows(before, 4, {row(0, 1, .8, {0, 0, 1, 1})});
  const OpCall after =
      detection(scores, attributes({{"clip_after_nms", 1}, {"nms_threshold", .6f}}), logits);
  expect_rows(after, 4, {row(0, 1, .8, {0, 0, 1, 1}), row(0, 1, .7, {0, 0, 1, 1})});
}

TEST(HetDetectionOutput, PriorsInPixelsHaveFiveValues) {
  // Two priors of (image, x_min, y_min, x_max, y_max) in a picture of 100 x 50; variances lie four
  // by four in the second row.
  Attributes list = attributes({{"normalized", 0},
                                {"input_width", 100},
                                {"input_height", 50},
                                {"variance_encoded_in_target", 0}});
  const OpCall call{"DetectionOutput",
                    {make_tensor<float>({1, 8}, {1, 1, 1, 1, 1, 1, 1, 1}),
                     make_tensor<float>({1, 4}, {0, .9, 0, .8}),
                     make_tensor<float>({1, 2, 10}, {7,  10, 10, 20, 20, 7,  50, 25, 60, 30,  //
                                                     .1, .1, .1, .1, .2, .2, .2, .2, 9,  9})},
                    list,
                    1,
                    "het"};
  expect_rows(call, 4, {row(0, 1, .9, {.2, .3, .3, .5}), row(0, 1, .8, {.7, .7, .8, .8})});
}

TEST(HetDetectionOutput, LocationsOfEachClassAndSeveralImages) {
  // One prior; classes 0 and 1 have their own shifts; image 1 has a prior set of its own.
  const Tensor logits =
      make_tensor<float>({2, 8}, {9, 9, 9, 9, .1, .1, .1, .1, 9, 9, 9, 9, .2, .2, .2, .2});
  const Tensor scores = make_tensor<float>({2, 2}, {0, .5, 0, .75});
  const Attributes list = attributes({{"share_location", 0}, {"keep_top_k", Ints{1}}});
  expect_rows({"DetectionOutput",
               {logits, scores, make_tensor<float>({1, 1, 4}, {0, 0, .5, .5})},
               list,
               1,
               "het"},
              2, {row(0, 1, .5, {.1, .1, .6, .6}), row(1, 1, .75, {.2, .2, .7, .7})});
  expect_rows({"DetectionOutput",
               {logits, scores, make_tensor<float>({2, 1, 4}, {0, 0, .5, .5, .1, .1, .3, .3})},
               list,
               1,
               "het"},
              2, {row(0, 1, .5, {.1, .1, .6, .6}), row(1, 1, .75, {.3, .3, .5, .5})});
}

TEST(HetDetectionOutput, RefinedPriors) {
  // Prior 0 is no object (.2 < .3); prior 2 is shifted by .1 and then by .05.
  OpCall call = detection({0, .8, 0, .7, 0, .6}, attributes({{"objectness_score", .3f}}),
                          {0, 0, 0, 0, 0, 0, 0, 0, .05, .05, .05, .05});
  call.inputs.push_back(make_tensor<float>({1, 6}, {.8, .2, .1, .9, .1, .9}));
  call.inputs.push_back(make_tensor<float>({1, 12}, {0, 0, 0, 0, 0, 0, 0, 0, .1, .1, .1, .1}));
  expect_rows(call, 4, {row(0, 1, .7, kBox1), row(0, 1, .6, {.65, .65, 1.05, 1.05})});
}

TEST(HetDetectionOutput, HalfTypesAndNoPriors) {
  const OpCall half{
      "DetectionOutput",
      {make_tensor<Float16>({1, 4}, {0, 0, 0, 0}), make_tensor<Float16>({1, 2}, {0, .5}),
       make_tensor<Float16>({1, 1, 4}, {.25, .25, .5, .5})},
      attributes({{"keep_top_k", Ints{2}}}),
      1,
      "het"};
  expect_values<Float16>(run_op_single(half), {1, 1, 2, 7},
                         {0, 1, .5, .25, .25, .5, .5, -1, 0, 0, 0, 0, 0, 0});
  const OpCall none{"DetectionOutput",
                    {make_tensor<float>({1, 0}, {}), make_tensor<float>({1, 0}, {}),
                     make_tensor<float>({1, 1, 0}, {})},
                    attributes({{"num_classes", 2}}),
                    1,
                    "het"};
  expect_rows(none, 4, {});
}

TEST(HetDetectionOutput, RefusesBadInput) {
  const std::vector<double> scores{0, .8, 0, .7, 0, .6};
  const auto expect = [&](std::pair<std::string_view, Attribute> wrong, const char* part) {
    expect_op_error(detection(scores, attributes({std::move(wrong)})), part);
  };
  expect({"code_type", "EDGES"}, "'EDGES'");
  expect({"keep_top_k", Ints{0}}, "keep_top_k [0]");
  expect({"keep_top_k", Ints{}}, "keep_top_k []");
  expect({"top_k", -2}, "top_k is -2");
  expect({"num_classes", 3}, "class_preds have shape [1,6]");
  expect({"num_classes", -3}, "-3 classes");
  expect({"share_location", 0}, "box_logits have shape [1,12]");
  expect({"variance_encoded_in_target", 0}, "[1 or n, 2, priors * 4]");
  expect({"normalized", 0}, "priors * 5]");
  expect({"input_width", int64_t{0}}, "input_width 0");
  expect({"keep_top_k", Ints{INT64_MAX}}, "9223372036854775807");
  OpCall aux = detection(scores, attributes());
  aux.inputs.push_back(make_tensor<float>({1, 6}, {0, 0, 0, 0, 0, 0}));
  expect_op_error(aux, "aux_box_preds");
  aux.inputs.push_back(make_tensor<float>({1, 4}, {0, 0, 0, 0}));
  expect_op_error(aux, "aux_box_preds have shape [1,4]");
}

}  // namespace
}  // namespace het::op_testing
