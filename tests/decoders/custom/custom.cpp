#include "inference/custom_decoder.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "inference/decoders/custom/custom_sink.h"
#include "inference/decoders/custom/custom_tensor.h"
#include "tests/decoders/decode_case.h"

namespace het::test {
namespace {

std::string library(const std::string& name) {
  const char* folder =
      std::getenv(name == "top_class" ? "HET_EXAMPLE_DECODERS" : "HET_TEST_DECODERS");
  return std::string(folder == nullptr ? "" : folder) + "/" + name + ".so";
}

DecoderConfig custom(const std::string& path) {
  DecoderConfig config = converter("custom_to_tensor");
  config.custom_library = path;
  return config;
}

DecodeCase scores() {
  DecodeCase c(8, 8);
  const auto values = c.add("prob", {2, 3});
  const float rows[] = {0.7f, 0.2f, 0.1f, 0.1f, std::numeric_limits<float>::quiet_NaN(), 0.8f};
  std::copy_n(rows, 6, values.begin());
  return c;
}

std::string create_error(const std::string& path) {
  return scores().create_error(custom(path));
}

TEST(CustomDecoder, TheExampleFindsTheBestClassOfItsBatchItem) {
  DecodeCase c = scores();
  DecoderConfig config = custom(library("top_class"));
  config.labels = {"cat", "dog", "bird"};
  EXPECT_EQ(c.decode(config).classifications.at(0).label, "cat");
  c.context.batch_index = 1;
  const Results results = c.decode(config);
  ASSERT_EQ(results.classifications.size(), 1u);
  EXPECT_EQ(results.classifications[0].attribute, "top_class");
  EXPECT_EQ(results.classifications[0].label, "bird");
  EXPECT_EQ(results.classifications[0].label_id, 2);
  EXPECT_FLOAT_EQ(results.classifications[0].confidence, 0.8f);
  c.context.threshold = 0.9f;
  EXPECT_TRUE(c.decode(config).classifications.empty());
  // No labels at all, and a second entry of the same library.
  EXPECT_EQ(scores().decode(custom(library("top_class"))).classifications.at(0).label, "");
}

TEST(CustomDecoder, ItsOwnReasonIsTold) {
  DecodeCase c(8, 8);
  c.add("prob", {3});
  const auto decoder = c.create(custom(library("top_class")));
  ASSERT_TRUE(decoder) << decoder.error().message();
  const auto results = (*decoder)->decode(c.tensors, c.context);
  ASSERT_FALSE(results);
  EXPECT_NE(results.error().message().find("float32 scores [batch, classes]"), std::string::npos);
  EXPECT_NE(results.error().message().find("decoder 'top_class'"), std::string::npos);
}

TEST(CustomDecoder, WithoutALibraryTheErrorNamesTheProperty) {
  EXPECT_NE(create_error("").find("custom-postproc-lib"), std::string::npos);
}

TEST(CustomDecoder, FilesThatAreNoDecoder) {
  EXPECT_NE(create_error("/nowhere/decoder.so").find("'/nowhere/decoder.so' does not exist"),
            std::string::npos);
  EXPECT_NE(create_error("/tmp").find("is no file"), std::string::npos);
  const std::string text = testing::TempDir() + "het_not_a_library.so";
  std::ofstream(text) << "text";
  EXPECT_NE(create_error(text).find("cannot load custom decoder library"), std::string::npos);
  std::remove(text.c_str());
}

TEST(CustomDecoder, TablesThatDoNotFit) {
  EXPECT_NE(create_error(library("fault_symbol")).find("no symbol 'het_custom_decoder'"),
            std::string::npos);
  EXPECT_NE(create_error(library("fault_version")).find("version 99 of the interface, this is "),
            std::string::npos);
  EXPECT_NE(create_error(library("fault_size")).find("a table of 8 bytes"), std::string::npos);
  EXPECT_NE(create_error(library("fault_refusal")).find("cannot serve version 1"),
            std::string::npos);
  EXPECT_NE(create_error(library("fault_create")).find("create failed with 7: no licence"),
            std::string::npos);
}

std::string decode_error(const std::string& path) {
  const DecodeCase c = scores();
  const auto decoder = c.create(custom(path));
  EXPECT_TRUE(decoder) << decoder.error().message();
  if (!decoder) return "";
  const auto results = (*decoder)->decode(c.tensors, c.context);
  return results ? "" : results.error().message();
}

TEST(CustomDecoder, ExceptionsAndRefusedValues) {
  EXPECT_NE(decode_error(library("fault_exception")).find("threw an exception: out of luck"),
            std::string::npos);
  const std::string refused = decode_error(library("fault_value"));
  EXPECT_NE(refused.find("a detection: box 0,0,nan,5"), std::string::npos) << refused;
  EXPECT_NE(refused.find("failed with -2"), std::string::npos) << refused;
}

TEST(CustomSink, TakesTensorsAndKeypointsAsCopies) {
  CustomSink sink(nullptr);
  const HetResultSink* table = sink.table();
  float values[] = {1.0f, 2.0f};
  const int64_t shape[] = {1, 2};
  HetTensorResult tensor{sizeof(HetTensorResult),
                         "id",
                         "cosine_distance",
                         {"out", HET_TYPE_FLOAT32, 2, shape, values, sizeof(values)}};
  EXPECT_EQ(table->add_tensor(table->context, &tensor), 0);
  values[0] = 9.0f;
  const float points[] = {3.0f, 4.0f, 0.0f, INFINITY};
  const char* names[] = {"a", "b"};
  const uint32_t lines[] = {0, 1};
  HetKeypoints keypoints{sizeof(HetKeypoints), "two", 2, points, nullptr, names, 1, lines, 0.5f};
  EXPECT_EQ(table->add_keypoints(table->context, &keypoints), 0);
  const Results results = sink.take();
  EXPECT_EQ(to_float_vector(results.tensors.at(0).values).value(), (std::vector<float>{1, 2}));
  EXPECT_EQ(results.tensors[0].layer, "out");
  EXPECT_EQ(results.keypoints.at(0).landmarks.confidences, (std::vector<float>{1.0f, 0.0f}));
  EXPECT_EQ(results.keypoints[0].landmarks.connections.size(), 1u);
}

TEST(CustomSink, RefusesWhatDoesNotFitTogether) {
  const float values[] = {1.0f};
  const int64_t huge[] = {std::numeric_limits<int64_t>::max(), 4};
  const int64_t one[] = {1};
  const HetTensorView views[] = {
      {"a", HET_TYPE_FLOAT32, 2, huge, values, 4},    {"a", HET_TYPE_FLOAT32, 1, one, values, 8},
      {"a", HET_TYPE_FLOAT32, 9, one, values, 4},     {"a", 77, 1, one, values, 4},
      {"a", HET_TYPE_FLOAT32, 1, nullptr, values, 4}, {"a", HET_TYPE_FLOAT32, 1, one, nullptr, 4}};
  for (const HetTensorView& view : views) {
    CustomSink sink(nullptr);
    HetTensorResult tensor{sizeof(HetTensorResult), nullptr, nullptr, view};
    EXPECT_EQ(sink.table()->add_tensor(sink.table()->context, &tensor), -1);
    EXPECT_FALSE(sink.complaint().empty());
  }
  CustomSink sink(nullptr);
  HetClassification bad{sizeof(HetClassification), "a", "\xff\xfe", -1, 0.5f};
  EXPECT_EQ(sink.table()->add_classification(sink.table()->context, &bad), -1);
  bad.struct_size = 4;
  EXPECT_EQ(sink.table()->add_classification(sink.table()->context, &bad), -1);
  EXPECT_EQ(sink.table()->add_classification(sink.table()->context, nullptr), -1);
  const float points[] = {3.0f, 4.0f};
  const uint32_t lines[] = {0, 5};
  HetKeypoints keypoints{sizeof(HetKeypoints), nullptr, 1, points, nullptr, nullptr, 1, lines, 1};
  EXPECT_EQ(sink.table()->add_keypoints(sink.table()->context, &keypoints), -1);
  EXPECT_TRUE(sink.take().classifications.empty());
}

TEST(CustomSink, TheNumberOfResultsIsBounded) {
  CustomSink sink(nullptr);
  HetDetection box{sizeof(HetDetection), 0, 0, 1, 1, 0.5f, 0, "x"};
  int32_t code = 0;
  for (int i = 0; i < 10001; ++i) code = sink.table()->add_detection(sink.table()->context, &box);
  EXPECT_EQ(code, -1);
  EXPECT_EQ(sink.take().detections.size(), 10000u);
}

}  // namespace
}  // namespace het::test
