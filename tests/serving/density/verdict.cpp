#include "serving/density/search/verdict.h"

#include <gtest/gtest.h>

namespace het::density {
namespace {

constexpr double kFps = 10;

Goal goal_of(double p99_ms, double drop) {
  Goal goal;
  goal.fps = kFps;
  goal.p99_ms = p99_ms;
  goal.drop = drop;
  return goal;
}

/// 200 frames in 20 s, all of them `latency_ms` late.
StreamTimes stream_of(double latency_ms) {
  StreamTimes stream;
  stream.due = 200;
  for (int i = 0; i < 200; ++i) stream.arrivals.push_back({i / kFps, latency_ms});
  return stream;
}

TrialReport report_of(std::vector<StreamTimes> streams) {
  TrialReport report;
  report.window_s = 20;
  report.streams = std::move(streams);
  report.cpu_s = 4;
  report.memory_mib = 100;
  return report;
}

TEST(Verdict, Passes) {
  const Verdict verdict = judge(report_of({stream_of(50), stream_of(80)}), goal_of(100, 0.01));
  EXPECT_TRUE(verdict.passes());
  EXPECT_EQ(verdict.limit, Limit::None);
  EXPECT_EQ(verdict.reason(goal_of(100, 0.01)), "");
  EXPECT_DOUBLE_EQ(verdict.worst.p99_ms, 80);
  EXPECT_DOUBLE_EQ(verdict.all.p50_ms, 50);
  EXPECT_DOUBLE_EQ(verdict.rate, kFps);
  EXPECT_DOUBLE_EQ(verdict.drop, 0);
  EXPECT_DOUBLE_EQ(verdict.cpu_ms_per_frame, 10);
  EXPECT_DOUBLE_EQ(verdict.cpus, 0.2);
}

TEST(Verdict, OneFrameOfAHundredMayBeLater) {
  StreamTimes stream = stream_of(50);
  stream.arrivals[7].latency_ms = 500;
  stream.arrivals[8].latency_ms = 500;
  EXPECT_TRUE(judge(report_of({stream}), goal_of(100, 0.01)).passes());
  stream.arrivals[9].latency_ms = 500;
  const Verdict verdict = judge(report_of({stream_of(1), stream}), goal_of(100, 0.05));
  EXPECT_FALSE(verdict.passes());
  EXPECT_EQ(verdict.limit, Limit::Latency);
  EXPECT_EQ(verdict.failed_streams, 1u);
  EXPECT_EQ(verdict.reason(goal_of(100, 0.05)), "p99 of 500 ms is above 100 ms");
}

TEST(Verdict, LostFramesCount) {
  StreamTimes stream = stream_of(50);
  stream.arrivals.erase(stream.arrivals.begin() + 20, stream.arrivals.begin() + 22);
  EXPECT_TRUE(judge(report_of({stream}), goal_of(100, 0.01)).passes());
  stream.arrivals.pop_back();
  const Verdict verdict = judge(report_of({stream}), goal_of(100, 0.01));
  EXPECT_EQ(verdict.limit, Limit::Drop);
  EXPECT_NEAR(verdict.drop, 0.015, 1e-9);
  EXPECT_EQ(verdict.reason(goal_of(100, 0.01)), "1.5 % of the frames are lost, more than 1 %");
}

TEST(Verdict, WhatArrivesMuchLaterIsLost) {
  StreamTimes stream = stream_of(50);
  for (int i = 0; i < 4; ++i) stream.arrivals[static_cast<size_t>(i)].latency_ms = 1001;
  const Verdict verdict = judge(report_of({stream}), goal_of(100, 0.01));
  EXPECT_EQ(verdict.limit, Limit::Drop);
  EXPECT_DOUBLE_EQ(verdict.worst.most_ms, 50);
}

TEST(Verdict, ABacklogAtTheEndIsARateThatFalls) {
  // The last frames of the window come, later than the goal allows; few enough for the p99.
  StreamTimes stream = stream_of(50);
  for (size_t i = 197; i < 200; ++i) stream.arrivals[i].latency_ms = 900;
  const Verdict verdict = judge(report_of({stream}), goal_of(100, 0.01));
  EXPECT_FALSE(verdict.passes());
  EXPECT_LT(verdict.rate, 0.99 * kFps);
}

TEST(Verdict, NothingArrived) {
  StreamTimes stream;
  stream.due = 200;
  const Verdict verdict = judge(report_of({stream}), goal_of(100, 0.01));
  EXPECT_EQ(verdict.limit, Limit::Drop);
  EXPECT_DOUBLE_EQ(verdict.drop, 1);
  EXPECT_DOUBLE_EQ(verdict.rate, 0);
}

TEST(Goal, LostAndHopelessFollowTheLatency) {
  EXPECT_DOUBLE_EQ(goal_of(100, 0).lost_after_s(), 1);
  EXPECT_DOUBLE_EQ(goal_of(2000, 0).lost_after_s(), 4);
  EXPECT_DOUBLE_EQ(goal_of(100, 0).hopeless_s(), 2);
}

}  // namespace
}  // namespace het::density
