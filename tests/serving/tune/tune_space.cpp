#include "serving/tune/tune_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het::serving {
namespace {

using testing::ElementsAre;

TuneSpaceRequest two_cores() {
  TuneSpaceRequest request;
  request.devices = {"CPU", "REF"};
  request.processors = 2;
  request.instance_counts = {1, 2};
  return request;
}

/// "nireq: 4 | 0 1 2" of each setting.
std::vector<std::string> texts(const std::vector<TuneSetting>& settings) {
  std::vector<std::string> found;
  for (const TuneSetting& setting : settings) {
    std::string text = setting.name + ":";
    for (const std::string& value : setting.values) text += " " + (value.empty() ? "-" : value);
    found.push_back(text);
  }
  return found;
}

TEST(TuneSpace, OfAProcessorAlone) {
  EXPECT_THAT(texts(tune_space(PipelineLine({"heterodetect", "nireq=2"}), two_cores())),
              ElementsAre("device: - AUTO", "nireq: 2 0 1 4", "NUM_STREAMS: - 1 2",
                          "PERFORMANCE_HINT: - LATENCY", "batch-size: - 2 4 8",
                          "INFERENCE_PRECISION_HINT: - f32 bf16", "instances: 1 2"));
}

TEST(TuneSpace, OfAMachineWithAGpu) {
  TuneSpaceRequest request = two_cores();
  request.devices = {"CPU", "GPU", "REF"};
  request.only = {"device", "precision", "pre-process-backend"};
  EXPECT_THAT(
      texts(tune_space(PipelineLine({"heterodetect", "device=REF"}), request)),
      ElementsAre("device: REF CPU GPU HETERO:GPU,CPU MULTI:GPU,CPU AUTO",
                  "pre-process-backend: - cpu opencl", "INFERENCE_PRECISION_HINT: - f32 bf16 f16"));
}

TEST(TuneSpace, IntervalsWhereTheyAreAllowed) {
  TuneSpaceRequest request = two_cores();
  request.only = {"inference-interval"};
  const PipelineLine line({"heterodetect", "inference-interval=2"});
  EXPECT_TRUE(tune_space(line, request).empty());
  request.allow_interval = true;
  EXPECT_THAT(texts(tune_space(line, request)), ElementsAre("inference-interval: 2 1 3 5"));
}

TEST(TuneSpace, WhereNothingCanBeComparedResultsStay) {
  TuneSpaceRequest request = two_cores();
  request.keeps_results = true;
  request.allow_interval = true;
  EXPECT_THAT(texts(tune_space(PipelineLine({"heterodetect"}), request)),
              ElementsAre("nireq: - 1 2 4", "NUM_STREAMS: - 1 2", "PERFORMANCE_HINT: - LATENCY",
                          "batch-size: - 2 4 8", "instances: 1 2"));
}

TEST(TuneSpace, AChoiceBecomesALine) {
  const PipelineLine line({"heterodetect", "nireq=1", "!", "heterodetect", "name=b"});
  TuneSpaceRequest request = two_cores();
  request.only = {"nireq", "streams", "instances"};
  const auto settings = tune_space(line, request);
  ASSERT_EQ(settings.size(), 5u);
  const TunedPipeline as_given = tuned_pipeline(line, settings, {0, 0, 0, 0, 0});
  EXPECT_EQ(as_given.line, line);
  EXPECT_EQ(as_given.instances, 1u);
  const TunedPipeline tuned = tuned_pipeline(line, settings, {1, 0, 2, 1, 1});
  EXPECT_THAT(tuned.line.words(), ElementsAre("heterodetect", "nireq=0", "!", "heterodetect",
                                              "name=b", "nireq=2", "ie-config=NUM_STREAMS=1"));
  EXPECT_EQ(tuned.instances, 2u);
}

}  // namespace
}  // namespace het::serving
