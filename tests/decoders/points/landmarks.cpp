#include <cmath>

#include "inference/decoders/descriptors/model_proc_text.h"
#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

DecoderConfig landmarks(int values_per_point, const std::string& unit) {
  DecoderConfig config = converter("landmarks");
  config.values_per_point = values_per_point;
  config.unit = unit;
  return config;
}

float logistic(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

void expect_place(const Keypoints& found, size_t index, float x, float y, float confidence) {
  EXPECT_NEAR(found.landmarks.points.at(index).x, x, 1e-3f) << index;
  EXPECT_NEAR(found.landmarks.points.at(index).y, y, 1e-3f) << index;
  EXPECT_NEAR(found.landmarks.confidences.at(index), confidence, 1e-5f) << index;
}

TEST(LandmarkKeys, PixelsWithDepths) {
  DecodeCase c(192, 192);
  const auto values = c.add("mesh", {1, 1, 1, 1404});
  const float last[] = {48.0f, 96.0f, -7.5f};
  std::copy_n(last, 3, values.end() - 3);
  values[0] = kInf;
  c.context.transform = {2.0f, 3.0f, 10.0f, 20.0f};
  const Results results = c.decode(landmarks(3, "pixels"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& found = results.keypoints[0];
  ASSERT_EQ(found.landmarks.points.size(), 468u);
  expect_place(found, 467, 48.0f * 2 + 10, 96.0f * 3 + 20, 1.0f);
  expect_place(found, 0, -1.0f, -1.0f, 0.0f);
  ASSERT_EQ(found.depths.size(), 468u);
  EXPECT_EQ(found.depths[467], -7.5f);
}

TEST(LandmarkKeys, CentredIsFromEdgeToEdge) {
  DecodeCase c(192, 96);
  const auto values = c.add("fc1", {1, 4});
  const float points[] = {-1.0f, 1.0f, 0.5f, 0.0f};
  std::copy_n(points, 4, values.begin());
  const Results results = c.decode(landmarks(2, "centred"));
  ASSERT_EQ(results.keypoints.size(), 1u);
  expect_place(results.keypoints[0], 0, 0.0f, 96.0f, 1.0f);
  expect_place(results.keypoints[0], 1, 144.0f, 48.0f, 1.0f);
}

TEST(LandmarkKeys, FiveValuesEndWithLogits) {
  DecodeCase c(256, 256);
  // Item 1 of 2: two points, the second hidden, and what a slice leaves out.
  const auto values = c.add("ld", {2, 15});
  const float item[] = {10, 20, 3, 2.0f, 9, 30, 40, -3, -4.0f, 9, kNan, kNan, kNan, kNan, kNan};
  std::copy_n(item, 15, values.begin() + 15);
  c.inputs[0].desc.shape[0] = 2;
  c.context.batch_index = 1;
  DecoderConfig config = landmarks(5, "pixels");
  config.slice = {0, 10};
  config.point_names = {"a", "b"};
  const Results results = c.decode(config);
  ASSERT_EQ(results.keypoints.size(), 1u);
  const Keypoints& found = results.keypoints[0];
  ASSERT_EQ(found.landmarks.points.size(), 2u);
  expect_place(found, 0, 10.0f, 20.0f, logistic(2.0f));
  expect_place(found, 1, 30.0f, 40.0f, logistic(-4.0f));
  EXPECT_EQ(found.depths, (std::vector<float>{3.0f, -3.0f}));
  EXPECT_NEAR(found.confidence, (logistic(2.0f) + logistic(-4.0f)) / 2, 1e-5f);
}

TEST(LandmarkKeys, PresenceDecides) {
  DecodeCase c(224, 224);
  c.add("points", {1, 63}, 7.0f);
  const auto presence = c.add("flag", {1, 1, 1, 1}, 0.75f);
  DecoderConfig config = landmarks(3, "pixels");
  config.presence_layer = "flag";
  const Results present = c.decode(config);
  ASSERT_EQ(present.keypoints.size(), 1u);  // the flag is no set of points
  EXPECT_EQ(present.keypoints[0].confidence, 0.75f);
  expect_place(present.keypoints[0], 20, 7.0f, 7.0f, 0.75f);
  for (const float absent : {0.25f, kNan, -kInf}) {
    presence[0] = absent;
    EXPECT_TRUE(c.decode(config).keypoints.empty()) << absent;
  }
  config.sigmoid_activation = true;
  presence[0] = -1.0f;
  EXPECT_TRUE(c.decode(config).keypoints.empty());
  config.threshold = 0.2f;
  ASSERT_EQ(c.decode(config).keypoints.size(), 1u);
  EXPECT_NEAR(c.decode(config).keypoints[0].confidence, logistic(-1.0f), 1e-5f);
  c.context.threshold = 0.9f;  // the user's wins
  EXPECT_TRUE(c.decode(config).keypoints.empty());
}

TEST(LandmarkKeys, WhatDoesNotFit) {
  DecodeCase c(64, 64);
  c.add("points", {1, 63});
  c.add("flags", {1, 2});
  DecoderConfig config = landmarks(5, "");
  config.layer_names = {"points"};
  EXPECT_NE(c.create_error(config).find("reads 5 values of each point"), std::string::npos);
  config.values_per_point = 3;
  config.presence_layer = "flags";
  EXPECT_NE(c.create_error(config).find("one value per picture from presence_layer"),
            std::string::npos);
  config.presence_layer = "none";
  EXPECT_NE(c.create_error(config).find("does not have"), std::string::npos);
  config.presence_layer.clear();
  config.slice = {60, 6};
  EXPECT_NE(c.create_error(config).find("6 values from value 60 on"), std::string::npos);
}

Result<ModelProc> entry_with(const std::string& keys) {
  return parse_model_proc(
      R"({"json_schema_version": "2.2.0", "output_postproc": [{"converter": "landmarks", )" + keys +
          "}]}",
      "test");
}

TEST(LandmarkKeys, AreReadFromDescriptors) {
  const auto read = entry_with(
      R"("slice": [3, 10], "values_per_point": 5, "unit": "pixels", "presence_layer": "flag")");
  ASSERT_TRUE(read) << read.error().message();
  const DecoderConfig& config = read->outputs.at(0);
  EXPECT_EQ(config.slice, (std::vector<int>{3, 10}));
  EXPECT_EQ(config.values_per_point, 5);
  EXPECT_EQ(config.unit, "pixels");
  EXPECT_EQ(config.presence_layer, "flag");
  const auto again = parse_model_proc(to_text(*read), "again");
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(to_text(*again), to_text(*read));
  for (const char* wrong :
       {R"("slice": [3])", R"("slice": [3, 0])", R"("slice": [-1, 2])", R"("slice": [1, 2, 3])",
        R"("values_per_point": 4)", R"("values_per_point": 6)", R"("unit": "metres")"})
    EXPECT_FALSE(entry_with(wrong)) << wrong;
}

TEST(Slices, LabelsAndTextsOfOneOutput) {
  DecodeCase c(96, 96);
  const auto values = c.add("fc1", {2, 3});
  const float item[] = {0.25f, 2.0f, 0.315f};
  std::copy_n(item, 3, values.begin() + 3);
  c.inputs[0].desc.shape[0] = 2;
  c.context.batch_index = 1;
  DecoderConfig gender = converter("label");
  gender.slice = {0, 2};
  gender.labels = {"Female", "Male"};
  EXPECT_EQ(c.decode(gender).classifications.at(0).label, "Male");
  DecoderConfig age = converter("text");
  age.slice = {2, 1};
  age.text_scale = 100.0f;
  age.text_precision = 1;
  EXPECT_EQ(c.decode(age).classifications.at(0).label, "31.5");
  gender.slice = {0, 3};
  EXPECT_NE(c.create_error(gender).find("2 labels for the 3 classes"), std::string::npos);
  age.slice = {2, 2};
  EXPECT_NE(c.create_error(age).find("2 values from value 2 on"), std::string::npos);
}

}  // namespace
}  // namespace het::test
