#include "hetero/planner/pipeline_flow.h"

#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

namespace het::hetero {
namespace {

/// One step after the other.
FrameFlow line(const std::vector<std::pair<size_t, double>>& steps) {
  FrameFlow flow;
  for (const auto& [resource, seconds] : steps) {
    flow.push_back({resource, seconds, {}});
    if (flow.size() > 1) flow.back().after.push_back(flow.size() - 2);
  }
  return flow;
}

TEST(PipelineFlow, TheBusiestResourceBoundsThePeriod) {
  const PipelineFlow flow{2, 3, {line({{0, 2}, {2, 1}, {1, 3}, {2, 1}, {0, 2}})}};
  EXPECT_DOUBLE_EQ(flow_bound(flow), 4);
  EXPECT_DOUBLE_EQ(flow_period(flow, 1), 9);
  EXPECT_NEAR(flow_period(flow, 8), 4, 0.04);
}

TEST(PipelineFlow, BranchesRunAtTheSameTime) {
  FrameFlow flow = line({{0, 1}, {1, 4}});
  flow.push_back({2, 3, {0}});
  flow.push_back({0, 1, {1, 2}});
  EXPECT_DOUBLE_EQ(flow_period({3, 3, {flow}}, 1), 6);
}

TEST(PipelineFlow, WaysTakeTurns) {
  const PipelineFlow flow{2, 2, {line({{0, 1}}), line({{1, 3}})}, {0, 0, 0, 1}};
  EXPECT_DOUBLE_EQ(flow_bound(flow), 0.75);
  EXPECT_DOUBLE_EQ(flow_period(flow, 1), 1.5);
  EXPECT_NEAR(flow_period(flow, 8), 0.75, 0.01);
}

/// A slow way holds up those behind it, unless there are enough of them.
TEST(PipelineFlow, FramesLeaveInTheOrderInWhichTheyCame) {
  PipelineFlow flow{2, 2, {line({{0, 1}}), line({{1, 10}})}, std::vector<size_t>(11, 0)};
  flow.turns[5] = 1;
  EXPECT_DOUBLE_EQ(flow_bound(flow), 10.0 / 11);
  EXPECT_GT(flow_period(flow, 2), 1.5);
  EXPECT_NEAR(flow_period(flow, 12), 10.0 / 11, 0.01);
  EXPECT_GE(frames_in_flight(flow, 32).count, 5u);
}

/// However the turns fall into the frames that are looked at.
TEST(PipelineFlow, NoPeriodIsLessThanTheBusiestResourceAllows) {
  for (const size_t turns : {3, 7, 11, 37, 64}) {
    PipelineFlow flow{2, 2, {line({{0, 1}}), line({{1, 10}})}, std::vector<size_t>(turns, 0)};
    flow.turns.back() = 1;
    for (const size_t in_flight : {1, 3, 8, 16}) {
      EXPECT_GE(flow_period(flow, in_flight), flow_bound(flow) - 1e-9) << turns << ' ' << in_flight;
    }
  }
}

/// Frames come back to both devices. First come, first served (here links in place of the devices)
/// lets both run dry in turn, with however many frames.
TEST(PipelineFlow, TheOldestFrameFirstKeepsTheBusiestDeviceAtWork) {
  const FrameFlow flow = line({{0, 1}, {1, 8}, {0, 1}, {1, 1}, {0, 8}, {1, 1}});
  for (const size_t in_flight : {4, 6, 8, 16, 32}) {
    EXPECT_NEAR(flow_period({2, 2, {flow}}, in_flight), 10, 0.01) << in_flight;
    EXPECT_GT(flow_period({0, 2, {flow}}, in_flight), 16) << in_flight;
  }
}

TEST(PipelineFlow, NothingEndsInACycle) {
  FrameFlow flow = line({{0, 1}, {0, 1}});
  flow[0].after.push_back(1);
  EXPECT_EQ(flow_period({1, 1, {flow}}, 2), std::numeric_limits<double>::infinity());
}

TEST(PipelineFlow, AsManyInFlightAsKeepTheBusiestAtWork) {
  // One computes 1 s while 3 s of transfers go on for others.
  const PipelineFlow flow{1, 4, {line({{1, 1}, {0, 1}, {2, 1}, {3, 1}})}};
  EXPECT_EQ(frames_in_flight(flow, 32).count, 4u);
  EXPECT_EQ(frames_in_flight(flow, 2).count, 2u);
  EXPECT_NEAR(frames_in_flight(flow, 32).period, 1, 0.02);
  EXPECT_EQ(frames_in_flight({1, 1, {line({{0, 1}})}}, 32).count, 1u);
}

}  // namespace
}  // namespace het::hetero
