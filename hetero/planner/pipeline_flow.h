#pragma once

#include <cstddef>
#include <vector>

namespace het::hetero {

/// What one device or link does for a frame, in one go.
struct FlowStep {
  size_t resource = 0;
  double seconds = 0;
  std::vector<size_t> after;  ///< steps of the frame that end before
};

/// All steps of a frame; free of cycles.
using FrameFlow = std::vector<FlowStep>;

/// Frames that take these ways in turn. The first resources are devices, which take the oldest
/// frame of those that wait; the rest are links, which take them as they come.
struct PipelineFlow {
  size_t devices = 0;
  size_t resources = 0;
  std::vector<FrameFlow> ways;
  std::vector<size_t> turns = {0};  ///< the way of frame i is turns[i % turns.size()]
};

/// Seconds from frame to frame that the busiest resource allows.
double flow_bound(const PipelineFlow& flow);
/// Seconds from frame to frame with so many in flight, each resource with one step at a time.
/// Frames leave in the order in which they came, and another begins when one leaves, as in a
/// stream. Simulated; infinity for a flow with a cycle.
double flow_period(const PipelineFlow& flow, size_t in_flight);
/// How many frames to have in flight, and what that gives.
struct FramesInFlight {
  size_t count = 1;
  double period = 0;  ///< seconds from frame to frame
};

/// The least number, up to `most`, that keeps the busiest resource at work but for 2 % of the time,
/// or the one that comes closest.
FramesInFlight frames_in_flight(const PipelineFlow& flow, size_t most);

}  // namespace het::hetero
