#include "serving/tune/pipeline_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "serving/launch/shell_quoted.h"

namespace het::serving {
namespace {

using testing::ElementsAre;

std::vector<std::string> labels(const PipelineLine& line) {
  std::vector<std::string> texts;
  for (const auto& inference : line.inferences()) texts.push_back(inference.label);
  return texts;
}

TEST(PipelineLine, ElementsAreNamedOrNumbered) {
  const PipelineLine line({"filesrc", "location=heterodetect", "!", "heterodetect", "!",
                           "heterodetect", "model=a", "name=second", "!", "tee", "name=t", "t.",
                           "!", "heteroclassify", "!", "heterodetect", "t.", "!", "fakesink"});
  EXPECT_THAT(labels(line),
              ElementsAre("heterodetect#1", "second", "heteroclassify#1", "heterodetect#3"));
}

TEST(PipelineLine, PropertiesAreSetWhereTheyStand) {
  PipelineLine line({"heterodetect", "nireq=1", "model=m", "nireq=2", "d.", "!", "fakesink"});
  EXPECT_EQ(line.value(0, "nireq"), "2") << "the last one counts";
  line.set(0, "nireq", "4");
  EXPECT_THAT(line.words(),
              ElementsAre("heterodetect", "model=m", "nireq=4", "d.", "!", "fakesink"));
  line.set(0, "device", "HETERO:GPU,CPU");
  line.set(0, "nireq", std::nullopt);
  EXPECT_THAT(line.words(), ElementsAre("heterodetect", "model=m", "device=HETERO:GPU,CPU", "d.",
                                        "!", "fakesink"));
  line.set(0, "device", "BATCH:CPU(4)");
  EXPECT_EQ(line.words()[2], "device=\"BATCH:CPU(4)\"");
  EXPECT_EQ(line.value(0, "device"), "BATCH:CPU(4)");
}

TEST(PipelineLine, UpperCaseIsOfTheDevice) {
  PipelineLine line({"heterodetect", "!", "fakesink"});
  line.set(0, "NUM_STREAMS", "2");
  line.set(0, "INFERENCE_PRECISION_HINT", "f32");
  EXPECT_THAT(line.words(),
              ElementsAre("heterodetect", "ie-config=INFERENCE_PRECISION_HINT=f32,NUM_STREAMS=2",
                          "!", "fakesink"));
  EXPECT_EQ(line.value(0, "NUM_STREAMS"), "2");
  EXPECT_EQ(line.value(0, "PERF_COUNT"), std::nullopt);
  line.set(0, "NUM_STREAMS", std::nullopt);
  line.set(0, "INFERENCE_PRECISION_HINT", std::nullopt);
  EXPECT_THAT(line.words(), ElementsAre("heterodetect", "!", "fakesink"));
}

TEST(PipelineLine, ATextBecomesArguments) {
  const PipelineLine line({R"(filesrc location="my file.mp4" ! video/x-raw,\ format=NV12 )"
                           "\n ! heterodetect model = 'a b.onnx' labels=x\\ y ! fakesink"});
  EXPECT_THAT(line.words(), ElementsAre("filesrc", "location=\"my file.mp4\"", "!",
                                        "video/x-raw, format=NV12", "!", "heterodetect",
                                        "model=\"a b.onnx\"", "labels=x y", "!", "fakesink"));
  EXPECT_EQ(line.value(0, "model"), "a b.onnx");
}

TEST(PipelineLine, CommandsAreQuotedForAShell) {
  const PipelineLine line({"filesrc", "location=it's here.mp4", "!", "video/x-raw, format={NV12}",
                           "!", "heterodetect", "name=$HOME", "!", "fakesink"});
  EXPECT_EQ(line.command("gst-launch-1.0"),
            "gst-launch-1.0 filesrc 'location=it'\\''s here.mp4' ! 'video/x-raw, format={NV12}' ! "
            "heterodetect 'name=$HOME' ! fakesink");
  EXPECT_EQ(shell_quoted(""), "''");
}

TEST(PipelineLine, ElementsWithoutPropertiesAreFound) {
  EXPECT_THAT(labels(PipelineLine(std::vector<std::string>{"videotestsrc ! heteroinference"})),
              ElementsAre("heteroinference#1"));
  EXPECT_TRUE(PipelineLine(std::vector<std::string>{}).inferences().empty());
}

}  // namespace
}  // namespace het::serving
