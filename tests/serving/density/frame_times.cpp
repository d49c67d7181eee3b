#include "serving/density/trial/frame_times.h"

#include <gtest/gtest.h>

#include <thread>

#include "serving/launch/instance/process_time.h"

namespace het::density {
namespace {

using serving::wall_time_s;

TEST(FrameTimes, FramesWaitForTheirTimes) {
  FrameTimes times(50);
  const double base = wall_time_s() + 0.05;
  times.measure(base, base, base + 0.2);
  for (uint64_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(times.wait_for_turn(i));
    const double late_s = wall_time_s() - (base + static_cast<double>(i) / 50);
    EXPECT_GE(late_s, 0);
    times.arrive(i, base + static_cast<double>(i) / 50 + 0.005);
  }
  EXPECT_TRUE(times.has_all());
  const StreamTimes result = times.result(base + 1);
  EXPECT_EQ(result.due, 10u);
  ASSERT_EQ(result.arrivals.size(), 10u);
  EXPECT_NEAR(result.arrivals[3].due_s, 3 / 50.0, 1e-9);
  EXPECT_NEAR(result.arrivals[3].latency_ms, 5, 1e-6);
}

TEST(FrameTimes, ALateStreamIsMeasuredFromTheDueTime) {
  FrameTimes times(100);
  const double base = wall_time_s() - 0.5;  // fifty frames are due already
  times.measure(base, base, base + 0.05);
  EXPECT_GE(times.lag_s(wall_time_s()), 0.5);
  for (uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(times.wait_for_turn(i));
    times.arrive(i, base + 0.5);
  }
  const StreamTimes result = times.result(base + 1);
  EXPECT_EQ(result.due, 5u);
  ASSERT_EQ(result.arrivals.size(), 5u);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(result.arrivals[i].latency_ms, 500 - 10.0 * static_cast<double>(i), 1e-6);
  }
}

TEST(FrameTimes, ReorderedFramesAreKnownByTheirTimes) {
  FrameTimes times(1000);
  const double base = wall_time_s() - 1;
  times.measure(base, base, base + 0.004);
  // Decoded as I P B B, shown as I B B P.
  for (const uint64_t time : {0u, 3u, 1u, 2u}) ASSERT_TRUE(times.wait_for_turn(time));
  for (const uint64_t time : {0u, 1u, 2u, 3u}) times.arrive(time, base + 0.010);
  const StreamTimes result = times.result(base + 1);
  ASSERT_EQ(result.arrivals.size(), 4u);
  EXPECT_NEAR(result.arrivals[3].due_s, 0.001, 1e-9);  // the P frame came second
  EXPECT_NEAR(result.arrivals[3].latency_ms, 9, 1e-6);
}

TEST(FrameTimes, FramesWithoutTimesComeInOrder) {
  FrameTimes times(1000);
  const double base = wall_time_s() - 1;
  times.measure(base, base, base + 0.003);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(times.wait_for_turn(std::nullopt));
  times.arrive(std::nullopt, base + 0.010);
  times.arrive(uint64_t{77}, base + 0.011);  // a decoder's guess
  EXPECT_FALSE(times.has_all());
  const StreamTimes result = times.result(base + 1);
  ASSERT_EQ(result.arrivals.size(), 2u);
  EXPECT_NEAR(result.arrivals[1].latency_ms, 10, 1e-6);
}

TEST(FrameTimes, FramesThatThePipelineMakesDoNotCount) {
  FrameTimes times(1000);
  const double base = wall_time_s() - 1;
  times.measure(base, base, base + 0.003);
  for (const uint64_t time : {0u, 10u, 20u}) ASSERT_TRUE(times.wait_for_turn(time));
  for (const uint64_t time : {0u, 5u, 10u, 15u}) times.arrive(time, base + 0.010);
  EXPECT_EQ(times.result(base + 1).arrivals.size(), 2u);
}

TEST(FrameTimes, TheWindowMayEndEarly) {
  FrameTimes times(10);
  const double base = wall_time_s() - 10;
  times.measure(base, base + 1, base + 9);
  EXPECT_EQ(times.result(base + 100).due, 80u);
  EXPECT_EQ(times.result(base + 3).due, 20u);
}

TEST(FrameTimes, StopLetsGo) {
  FrameTimes times(0.1);
  ASSERT_TRUE(times.wait_for_turn(uint64_t{0}));
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    times.stop();
  });
  EXPECT_FALSE(times.wait_for_turn(uint64_t{1}));
  stopper.join();
  EXPECT_FALSE(times.wait_for_turn(uint64_t{2}));
}

}  // namespace
}  // namespace het::density
