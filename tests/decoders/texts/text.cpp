#include <cmath>
#include <limits>

#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

/// Scores [1, steps, classes] in which each step's class has `score` and the others share the rest.
DecodeCase steps(const std::vector<int>& classes, int64_t class_count, float score = 0.9f) {
  DecodeCase c(32, 8);
  const float rest = (1.0f - score) / static_cast<float>(class_count - 1);
  const auto values = c.add("prob", {1, static_cast<int64_t>(classes.size()), class_count}, rest);
  for (size_t t = 0; t < classes.size(); ++t)
    values[t * static_cast<size_t>(class_count) + static_cast<size_t>(classes[t])] = score;
  return c;
}

DecoderConfig with_labels(std::string name, std::vector<std::string> labels) {
  DecoderConfig config = converter(std::move(name));
  config.labels = std::move(labels);
  return config;
}

TEST(Text, WritesScaledNumbers) {
  DecodeCase c(8, 8);
  c.add("age", {1, 1, 1, 1})[0] = 0.2749f;
  DecoderConfig age = converter("text");
  age.text_scale = 100.0f;
  age.text_precision = 0;
  age.attribute_name = "age";
  const Results results = c.decode(age);
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].label, "27");
  EXPECT_EQ(results.classifications[0].attribute, "age");
  EXPECT_EQ(results.classifications[0].label_id, kNoLabelId);
}

TEST(Text, JoinsValuesAndKeepsOutputsApart) {
  DecodeCase c(8, 8);
  const auto angles = c.add("angles", {1, 2});
  angles[0] = -12.5f;
  angles[1] = kInf;
  c.add("roll", {1, 1})[0] = kNan;
  const Results results = c.decode(converter("text"));
  ASSERT_EQ(results.classifications.size(), 2u);
  EXPECT_EQ(results.classifications[0].label, "-12.50, inf");
  EXPECT_EQ(results.classifications[1].attribute, "roll");
  EXPECT_EQ(results.classifications[1].label, "nan");
}

TEST(Text, RefusesToPrintMaps) {
  DecodeCase c(8, 8);
  c.add("map", {1, 1, 64, 64});
  const auto decoder = c.create(converter("text")).value();
  const auto results = decoder->decode(c.tensors, c.context);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message().find("has 4096"), std::string::npos);
}

TEST(Ctc, RepeatsCountOnceAndBlanksSeparate) {
  // Classes: 0 blank, 1 a, 2 b, 3 c.
  const DecodeCase c = steps({1, 1, 0, 1, 2, 2, 0, 0, 3}, 4);
  for (const char* name : {"paddle_ocr", "paddle_ocr_ctc"}) {
    const Results results = c.decode(with_labels(name, {"a", "b", "c"}));
    ASSERT_EQ(results.classifications.size(), 1u) << name;
    EXPECT_EQ(results.classifications[0].label, "aabc");
    EXPECT_NEAR(results.classifications[0].confidence, 0.9f, 1e-6f);
    EXPECT_EQ(results.classifications[0].label_id, kNoLabelId);
  }
}

TEST(Ctc, TheClassBehindTheDictionaryIsTheSpace) {
  EXPECT_EQ(steps({1, 3, 2}, 4)
                .decode(with_labels("paddle_ocr_ctc", {"a", "b"}))
                .classifications.at(0)
                .label,
            "a b");
}

TEST(Ctc, TheBlankMayBeTheLastClassAndHaveALabel) {
  DecoderConfig config = with_labels("paddle_ocr_ctc", {"a", "b", "c"});
  config.blank_class = 3;
  EXPECT_EQ(steps({0, 3, 0, 2}, 4).decode(config).classifications.at(0).label, "aac");
  config.labels.push_back("-");
  EXPECT_EQ(steps({0, 3, 0, 2}, 4).decode(config).classifications.at(0).label, "aac");
}

TEST(Ctc, LogitsBecomeProbabilities) {
  DecodeCase c(32, 8);
  const auto values = c.add("logits", {1, 1, 3});
  values[0] = -2.0f;
  values[1] = std::log(3.0f);
  values[2] = 0.0f;
  // softmax of the best: 3 / (e^-2 + 3 + 1)
  const Results results = c.decode(with_labels("paddle_ocr_ctc", {"a", "b"}));
  EXPECT_NEAR(results.classifications.at(0).confidence, 3.0f / (std::exp(-2.0f) + 4.0f), 1e-5f);
}

/// The same classes in another order of dimensions: [steps, batch, classes], item 1 of 2.
DecodeCase steps_first(const std::vector<int>& classes, int64_t class_count) {
  DecodeCase c(32, 8);
  c.inputs[0].desc.shape[0] = 2;
  c.context.batch_index = 1;
  const auto values = c.add("prob", {static_cast<int64_t>(classes.size()), 2, class_count});
  for (size_t t = 0; t < classes.size(); ++t) {
    const size_t row = 2 * t * static_cast<size_t>(class_count);
    values[row] = 1.0f;  // of the first picture: nothing
    values[row + static_cast<size_t>(class_count) + static_cast<size_t>(classes[t])] = 1.0f;
  }
  return c;
}

TEST(Ctc, StepsMayComeBeforeTheBatchOrWithoutOne) {
  DecoderConfig config = with_labels("paddle_ocr_ctc", {"a", "b", "c"});
  DecodeCase c = steps_first({1, 1, 0, 1, 2, 0, 3}, 4);
  EXPECT_EQ(c.decode(config).classifications.at(0).label, "aabc");
  c.context.batch_index = 0;
  EXPECT_TRUE(c.decode(config).classifications.empty());
  config.layout = "NTC";  // what is said wins, and gives another text
  c.context.batch_index = 1;
  EXPECT_EQ(c.decode(config).classifications.at(0).label, "a");
  DecodeCase flat(32, 8);
  const auto values = flat.add("prob", {3, 4});
  values[1] = values[4 + 0] = values[8 + 3] = 1.0f;
  config.layout.clear();
  EXPECT_EQ(flat.decode(config).classifications.at(0).label, "ac");
}

TEST(Ctc, ShapesWithoutTheBatchNeedTheLayout) {
  DecoderConfig config = with_labels("paddle_ocr_ctc", {"a", "b", "c"});
  DecodeCase c(32, 8);
  c.add("prob", {20, 5, 4});
  const auto wrong = c.create(config);
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message().find("layout (NTC, TNC)"), std::string::npos)
      << wrong.error().message();
  config.layout = "TNC";
  EXPECT_TRUE(c.create(config));
  config.layout = "TC";
  EXPECT_FALSE(c.create(config));
}

TEST(Ctc, NothingReadIsNoResult) {
  const DecoderConfig config = with_labels("paddle_ocr_ctc", {"a", "b"});
  EXPECT_TRUE(steps({0, 0}, 3).decode(config).classifications.empty());
  DecodeCase broken(32, 8);
  broken.add("prob", {1, 4, 3}, kNan);
  EXPECT_TRUE(broken.decode(config).classifications.empty());
  DecodeCase empty(32, 8);
  empty.add("prob", {1, 0, 3});
  EXPECT_TRUE(empty.decode(config).classifications.empty());
}

TEST(Ctc, WeakOrShortTextsAreDropped) {
  DecoderConfig config = with_labels("paddle_ocr_ctc", {"a", "b"});
  config.min_length = 3;
  EXPECT_TRUE(steps({1, 2}, 3).decode(config).classifications.empty());
  config.min_length = 2;
  config.threshold = 0.95f;
  EXPECT_TRUE(steps({1, 2}, 3).decode(config).classifications.empty());
  config.threshold = 0.85f;
  EXPECT_EQ(steps({1, 2}, 3).decode(config).classifications.size(), 1u);
}

TEST(Ctc, ChecksLabelsAndShapes) {
  const DecodeCase c = steps({1}, 8);
  EXPECT_NE(c.create_error(with_labels("paddle_ocr_ctc", {"a", "b"})).find("2 labels for the 8"),
            std::string::npos);
  EXPECT_NE(c.create_error(converter("paddle_ocr")).find("needs labels"), std::string::npos);
  DecodeCase flat(32, 8);
  flat.add("prob", {1, 8});
  EXPECT_NE(flat.create_error(with_labels("paddle_ocr", {"a", "b", "c", "d", "e", "f", "g"}))
                .find("[1,8]"),
            std::string::npos);
}

TEST(AttentionText, EndsAtTheEndClassAndSkipsOthers) {
  DecoderConfig config = with_labels("attention_text", {"a", "b", "c"});
  config.end_class = 3;
  // 4 has no label; what follows the end does not count; repeated characters do.
  EXPECT_EQ(steps({0, 0, 4, 2, 3, 1}, 5).decode(config).classifications.at(0).label, "aac");
}

TEST(AttentionText, DocTrKnowsLettersAndDigits) {
  const Results results = steps({1, 10, 36, 100}, 124).decode(converter("docTR_ocr"));
  EXPECT_EQ(results.classifications.at(0).label, "1aA");
  EXPECT_NE(steps({1}, 8).create_error(converter("docTR_ocr")).find("62 labels for the 8"),
            std::string::npos);
}

}  // namespace
}  // namespace het::test
