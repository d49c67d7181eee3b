#include <gtest/gtest.h>

#include <regex>

#include "pipeline_run.h"

namespace het::gst_test {
namespace {

TEST(HeteroFpsCounter, PrintsWhilePlayingAndAtTheEnd) {
  testing::internal::CaptureStdout();
  PipelineRun run(
      "videotestsrc is-live=true num-buffers=70 ! "
      "video/x-raw,width=32,height=32,framerate=50/1 ! heterofpscounter name=fps ! "
      "fakesink sync=true");
  const std::string problem = run.play().problem();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(problem, "");
  const std::string figures =
      "total=(4[89]|5[0-2])\\.[0-9]{2} fps, number-streams=1, per-stream=[0-9.]+ fps\n";
  EXPECT_TRUE(std::regex_search(text, std::regex("FpsCounter\\(last 1\\.0[0-9]sec\\): " + figures)))
      << text;
  EXPECT_TRUE(std::regex_search(text, std::regex("FpsCounter\\(overall [0-9.]+sec\\): total=")))
      << text;
}

TEST(HeteroFpsCounter, TwoStreamsAreOneLine) {
  testing::internal::CaptureStdout();
  PipelineRun run(
      "videotestsrc num-buffers=500 ! video/x-raw,width=32,height=32 ! "
      "heterofpscounter ! fakesink "
      "videotestsrc num-buffers=500 ! video/x-raw,width=32,height=32 ! "
      "heterofpscounter ! fakesink");
  const std::string problem = run.play().problem();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(problem, "");
  EXPECT_NE(text.find("number-streams=2"), std::string::npos) << text;
  EXPECT_EQ(text.find("overall"), text.rfind("overall")) << text;
}

}  // namespace
}  // namespace het::gst_test
