#include "gst/measuring/fps_meter.h"

#include <gtest/gtest.h>

namespace het::gst {
namespace {

using std::chrono::milliseconds;

const FpsMeter::Time kStart = FpsMeter::Time() + std::chrono::hours(1);

TEST(FpsMeter, OneStream) {
  FpsMeter meter(1, 0);
  std::vector<std::string> lines;
  for (int i = 0; i <= 50; ++i) {
    if (auto line = meter.frame("a", kStart + milliseconds(50 * i))) lines.push_back(*line);
  }
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0],
            "FpsCounter(last 1.00sec): total=20.00 fps, number-streams=1, per-stream=20.00 fps");
  EXPECT_EQ(lines[1], lines[0]);
  EXPECT_NEAR(meter.average_fps("a", kStart + milliseconds(2500)), 20.0, 1e-9);
  EXPECT_EQ(meter.end("a", kStart + milliseconds(2550)),
            "FpsCounter(overall 2.55sec): total=20.00 fps, number-streams=1, per-stream=20.00 fps");
  EXPECT_FALSE(meter.end("a", kStart + milliseconds(2600))) << "the run is reported once";
}

TEST(FpsMeter, TwoStreamsReportTogether) {
  FpsMeter meter(1, 0);
  std::optional<std::string> line;
  for (int i = 0; i <= 40 && !line; ++i) {
    line = meter.frame("a", kStart + milliseconds(25 * i));
    if (i % 2 == 0 && !line) line = meter.frame("b", kStart + milliseconds(25 * i));
  }
  ASSERT_TRUE(line);
  EXPECT_EQ(*line,
            "FpsCounter(last 1.00sec): total=60.00 fps, number-streams=2, per-stream=30.00 fps "
            "(40.00, 20.00)");
  EXPECT_FALSE(meter.end("b", kStart + milliseconds(1100))) << "a is still running";
  EXPECT_TRUE(meter.end("a", kStart + milliseconds(1200)));
}

TEST(FpsMeter, WarmUpFramesDoNotCount) {
  FpsMeter meter(1, 10);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(meter.frame("a", kStart + milliseconds(500 * i)));
  const FpsMeter::Time begin = kStart + milliseconds(5000);
  EXPECT_FALSE(meter.frame("a", begin));
  EXPECT_FALSE(meter.frame("a", begin + milliseconds(500)));
  const auto line = meter.frame("a", begin + milliseconds(1000));
  ASSERT_TRUE(line);
  EXPECT_NE(line->find("total=2.00 fps"), std::string::npos) << *line;
}

TEST(FpsMeter, DeviationAndLatency) {
  FpsMeter meter(1, 0, {.deviation = true, .latency = true});
  std::optional<std::string> line;
  // Distances of a: 100 and 300 ms in turn; b has one frame each 400 ms.
  for (int i = 0; !line && i < 20; ++i) {
    const FpsMeter::Time begin = kStart + milliseconds(400 * i);
    line = meter.frame("a", begin, 10.0);
    if (!line) line = meter.frame("b", begin, 40.0);
    if (!line) line = meter.frame("a", begin + milliseconds(100), 20.0);
  }
  ASSERT_TRUE(line);
  // Of a 100 300 100 300 100 300 at 1200 ms, of b 400 400.
  EXPECT_NE(line->find("\nstd dev interval: 122.47ms (100.00, 0.00)"), std::string::npos) << *line;
  EXPECT_NE(line->find("\nlatency: 22.00ms (14.29, 40.00)"), std::string::npos) << *line;
}

TEST(FpsMeter, NoFramesNoLine) {
  FpsMeter meter(1, 0);
  EXPECT_FALSE(meter.end("a", kStart));
  EXPECT_EQ(meter.average_fps("a", kStart), 0.0);
}

TEST(FpsMeter, CountersWithEqualSettingsShareOne) {
  const auto a = FpsMeter::shared(1, 0);
  EXPECT_EQ(a, FpsMeter::shared(1, 0));
  EXPECT_NE(a, FpsMeter::shared(2, 0));
}

}  // namespace
}  // namespace het::gst
