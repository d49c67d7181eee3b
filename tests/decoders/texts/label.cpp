#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

DecodeCase scores(std::vector<float> values) {
  DecodeCase c(10, 10);
  std::copy(values.begin(), values.end(),
            c.add("prob", {1, static_cast<int64_t>(values.size()), 1, 1}).begin());
  return c;
}

DecoderConfig label(std::string method, std::vector<std::string> labels) {
  DecoderConfig config = converter("label");
  config.method = std::move(method);
  config.labels = std::move(labels);
  return config;
}

TEST(Label, WhatHasNoBatchNeedsTheLayout) {
  DecodeCase c(8, 8);
  c.add("prob", {3, 2})[4] = 0.75f;
  DecoderConfig config = converter("label");
  EXPECT_NE(c.create_error(config).find("is not the batch"), std::string::npos);
  EXPECT_NE(c.create_error(config).find("layout C"), std::string::npos);
  config.layout = "C";
  EXPECT_EQ(c.decode(config).classifications.at(0).label_id, 4);
  c.context.batch_index = 1;
  const auto decoder = c.create(config).value();
  EXPECT_FALSE(decoder->decode(c.tensors, c.context));
  for (const char* other : {"landmarks", "text", "embedding"})
    EXPECT_NE(c.create_error(converter(other)).find("is not the batch"), std::string::npos);
}

TEST(Label, MaxGivesTheFirstOfEqualBest) {
  const Results results =
      scores({0.1f, 0.4f, 0.4f, kNan}).decode(label("max", {"a", "b", "c", "d"}));
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].label, "b");
  EXPECT_EQ(results.classifications[0].label_id, 1);
  EXPECT_FLOAT_EQ(results.classifications[0].confidence, 0.4f);
  EXPECT_EQ(results.classifications[0].attribute, "prob");
}

TEST(Label, MaxWorksOnLogitsAndWithoutLabels) {
  const Results results = scores({-3.0f, -1.0f}).decode(converter("label"));
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].label, "");
  EXPECT_EQ(results.classifications[0].label_id, 1);
  EXPECT_EQ(scores({kNan, kNan}).decode(converter("label")).classifications.size(), 0u);
}

TEST(Label, ThresholdDropsWeakResults) {
  DecodeCase c = scores({0.2f, 0.6f});
  DecoderConfig config = label("max", {});
  config.threshold = 0.7f;
  EXPECT_EQ(c.decode(config).classifications.size(), 0u);
  c.context.threshold = 0.5f;
  EXPECT_EQ(c.decode(config).classifications.size(), 1u);
}

TEST(Label, SoftmaxGivesProbabilities) {
  DecoderConfig config = label("softmax", {"a", "b"});
  config.attribute_name = "letter";
  const Results results = scores({500.0f, 500.0f + std::log(3.0f)}).decode(config);
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].attribute, "letter");
  EXPECT_NEAR(results.classifications[0].confidence, 0.75f, 1e-3f);
}

TEST(Label, CompoundHasTwoLabelsPerValue) {
  const DecodeCase c = scores({0.9f, 0.2f, 0.0f});
  const std::vector<std::string> labels{"M:", "F:", "bag", "no bag", "hat", "no hat"};
  const Results results = c.decode(label("compound", labels));
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].label, "M: no bag");
  EXPECT_FLOAT_EQ(results.classifications[0].confidence, 0.9f);
  EXPECT_NE(c.create_error(label("compound", {"M:", "F:"})).find("two labels for each of the 3"),
            std::string::npos);
}

TEST(Label, MultiJoinsEveryLabelFromTheThresholdOn) {
  const DecodeCase c = scores({0.9f, 0.5f, 0.4f});
  EXPECT_EQ(c.decode(label("multi", {"a", "b", "c"})).classifications.at(0).label, "a b");
  EXPECT_EQ(scores({0.1f, 0.2f}).decode(label("multi", {"a", "b"})).classifications.size(), 0u);
  const Results soft = scores({5.0f, 0.0f}).decode(label("softmax_multi", {"a", "b"}));
  EXPECT_EQ(soft.classifications.at(0).label, "a");
}

TEST(Label, IndexReadsLabelIdsUpToTheFirstWithoutOne) {
  const DecodeCase c = scores({1, 0, 2, -1, 1});
  EXPECT_EQ(c.decode(label("index", {"0", "1", "2"})).classifications.at(0).label, "102");
  EXPECT_EQ(scores({kNan, 1}).decode(label("index", {"0", "1"})).classifications.size(), 0u);
  EXPECT_NE(c.create_error(label("index", {})).find("needs labels"), std::string::npos);
}

TEST(Label, HalfPrecisionOutputs) {
  DecodeCase c(10, 10);
  c.inputs[0].desc.shape[0] = 2;
  Tensor tensor = Tensor::allocate({ElementType::Float16, {2, 3}}).value();
  const auto values = tensor.values<Float16>();
  for (size_t i = 0; i < values.size(); ++i) values[i] = Float16(i == 5 ? 1.0f : 0.25f);
  c.outputs.push_back({"prob", tensor.desc(), std::nullopt});
  c.tensors.push_back(tensor);
  c.context.batch_index = 1;
  EXPECT_EQ(c.decode(converter("label")).classifications.at(0).label_id, 2);
}

TEST(Label, RefusesWrongLabelCountsAndMethods) {
  const DecodeCase c = scores({0, 1, 2});
  EXPECT_NE(c.create_error(label("max", {"a"})).find("1 labels for the 3 classes"),
            std::string::npos);
  EXPECT_NE(c.create_error(label("best", {})).find("none of max, softmax"), std::string::npos);
}

TEST(Converters, UnknownOneListsTheOthers) {
  const std::string message = scores({0}).create_error(converter("yolo_v99"));
  EXPECT_NE(message.find("unknown converter 'yolo_v99'"), std::string::npos);
  for (const std::string& name : converter_names())
    EXPECT_NE(message.find(name), std::string::npos) << name;
}

}  // namespace
}  // namespace het::test
