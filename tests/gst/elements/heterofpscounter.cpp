#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <functional>
#include <regex>
#include <string>
#include <vector>

#include "tests/gst/pipeline_run.h"

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

/// What a run prints; `visit` sees the counter at each frame that comes out of it.
std::string printed(const std::string& properties,
                    const std::function<void(GstElement*)>& visit = nullptr) {
  testing::internal::CaptureStdout();
  std::string problem;
  {
    PipelineRun run(
        "videotestsrc num-buffers=6 ! video/x-raw,width=32,height=32,framerate=25/1 ! "
        "identity name=stamp ! heterofpscounter name=fps " +
        properties + " ! fakesink name=end");
    // Taken ten seconds ago.
    run.on_buffer("stamp", [](GstBuffer* buffer) {
      GDateTime* now = g_date_time_new_now_utc();
      GDateTime* taken = g_date_time_add_seconds(now, -10.0);
      GDateTime* jam =
          g_date_time_new_utc(g_date_time_get_year(taken), g_date_time_get_month(taken),
                              g_date_time_get_day_of_month(taken), 0, 0, 0.0);
      gst_buffer_add_video_time_code_meta_full(buffer, 25, 1, jam, GST_VIDEO_TIME_CODE_FLAGS_NONE,
                                               static_cast<guint>(g_date_time_get_hour(taken)),
                                               static_cast<guint>(g_date_time_get_minute(taken)),
                                               static_cast<guint>(g_date_time_get_second(taken)), 0,
                                               0);
      g_date_time_unref(jam);
      g_date_time_unref(taken);
      g_date_time_unref(now);
      g_usleep(20000);
    });
    run.on_buffer("end", [&](GstBuffer*) {
      if (visit) visit(run.element("fps"));
    });
    problem = run.play().problem();
  }
  EXPECT_EQ(problem, "");
  return testing::internal::GetCapturedStdout();
}

TEST(HeteroFpsCounter, FramesBeforeTheStartingFrameDoNotCount) {
  EXPECT_NE(printed("starting-frame=4").find("overall"), std::string::npos);
  EXPECT_EQ(printed("starting-frame=6").find("overall"), std::string::npos) << "no frame counted";
}

TEST(HeteroFpsCounter, TheAverageCanBeReadWhilePlaying) {
  std::vector<float> averages;
  printed("", [&](GstElement* counter) {
    gfloat average = -1.0f;
    g_object_get(counter, "avg-fps", &average, nullptr);
    averages.push_back(average);
  });
  ASSERT_EQ(averages.size(), 6u);
  EXPECT_EQ(averages[0], 0.0f) << "a rate needs two frames";
  EXPECT_GT(averages[5], 0.0f);
  EXPECT_LE(averages[5], 50.0f) << "20 ms and more lie between two frames";
}

TEST(HeteroFpsCounter, DeviationAndLatencyOnRequest) {
  const std::string plain = printed("");
  EXPECT_EQ(plain.find("std dev"), std::string::npos) << plain;
  EXPECT_EQ(plain.find("latency"), std::string::npos) << plain;
  const std::string deviation = printed("print-std-dev=true");
  EXPECT_TRUE(std::regex_search(deviation, std::regex("\\nstd dev interval: [0-9.]+ms\\n")))
      << deviation;
  const std::string latency = printed("print-latency=true");
  std::smatch match;
  ASSERT_TRUE(std::regex_search(latency, match, std::regex("\\nlatency: ([0-9.]+)ms\\n")))
      << latency;
  EXPECT_GE(std::stod(match[1]), 10000.0);
  EXPECT_LE(std::stod(match[1]), 40000.0);
}

}  // namespace
}  // namespace het::gst_test
