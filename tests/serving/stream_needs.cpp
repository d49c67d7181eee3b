#include "serving/launch/plan/stream_needs.h"

#include <gtest/gtest.h>

namespace het::serving {
namespace {

LaunchSettings one_stream() {
  LaunchSettings settings;
  settings.streams.resize(1);
  settings.streams[0].name = "door";
  settings.streams[0].pipeline = {"videotestsrc ! fakesink"};
  return settings;
}

TEST(StreamNeeds, ThreadsThatAreAskedForUnderAnyName) {
  for (const char* name : {"INFERENCE_NUM_THREADS", "CPU.INFERENCE_NUM_THREADS", "CPU_THREADS_NUM",
                           "CPU.CPU_THREADS_NUM"}) {
    StreamDescription description;
    description.inferences.push_back({"d", "CPU", "m.onnx", {{name, "6"}, {"NUM_STREAMS", "9"}}});
    EXPECT_EQ(stream_needs(one_stream(), {description})[0].inference_threads, 6u) << name;
  }
  EXPECT_EQ(stream_needs(one_stream(), {{}})[0].inference_threads, 0u);
}

TEST(StreamNeeds, ThreadsThatTheFileAsksForCountAsWell) {
  LaunchSettings settings = one_stream();
  settings.properties["CPU"] = {{"INFERENCE_NUM_THREADS", "5"}};
  EXPECT_EQ(stream_needs(settings, {{}})[0].inference_threads, 5u);
}

TEST(StreamNeeds, DecoderThreadsOfTheFileAndOfThePipeline) {
  LaunchSettings settings = one_stream();
  settings.streams[0].decoder_threads = 2;
  StreamDescription description;
  EXPECT_EQ(stream_needs(settings, {description})[0].decoder_threads, 2u);
  description.decoders = {{"avdec_h264", 3}, {"avdec_h265", 0}};
  EXPECT_EQ(stream_needs(settings, {description})[0].decoder_threads, 3u);
}

}  // namespace
}  // namespace het::serving
