#include "hetero/planner/pipeline_flow.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

namespace het::hetero {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Frames in flight on their ways, event by event.
class FlowSimulation {
 public:
  FlowSimulation(const PipelineFlow& flow, size_t in_flight)
      : flow_(flow), resources_(flow.resources), frames_(in_flight) {
    for (const FrameFlow& way : flow.ways) {
      auto& readers = readers_.emplace_back(way.size());
      for (size_t step = 0; step < way.size(); ++step) {
        for (const size_t before : way[step].after) readers[before].push_back(step);
      }
    }
    for (size_t frame = 0; frame < in_flight; ++frame) begin(frame);
  }

  /// When the oldest frame leaves and another begins in its place; infinity where it cannot end.
  double next_end() {
    while (frames_[oldest_].left > 0) {
      if (ends_.empty()) return kNever;
      const End end = ends_.top();
      ends_.pop();
      now_ = end.seconds;
      Frame& frame = frames_[end.frame];
      const size_t resource = flow_.ways[frame.way][end.step].resource;
      for (const size_t reader : readers_[frame.way][end.step]) {
        if (--frame.waits_for[reader] == 0) queue(end.frame, reader);
      }
      --frame.left;
      resources_[resource].is_busy = false;
      start_next(resource);
    }
    begin(oldest_);
    oldest_ = (oldest_ + 1) % frames_.size();
    return now_;
  }

 private:
  struct Frame {
    size_t number = 0;
    size_t way = 0;
    size_t left = 0;
    std::vector<size_t> waits_for;  ///< per step
  };
  struct Waiting {
    size_t rank;    ///< the least is next
    size_t number;  ///< of steps, in the order in which they became ready
    size_t frame;
    size_t step;
    bool operator<(const Waiting& other) const {
      return std::tie(other.rank, other.number) < std::tie(rank, number);
    }
  };
  struct End {
    double seconds;
    size_t number;
    size_t frame;
    size_t step;
    bool operator<(const End& other) const {
      return std::tie(other.seconds, other.number) < std::tie(seconds, number);
    }
  };
  struct Resource {
    bool is_busy = false;
    std::priority_queue<Waiting> waiting;
  };

  void begin(size_t index) {
    Frame& frame = frames_[index];
    frame.number = begun_++;
    frame.way = flow_.turns[frame.number % flow_.turns.size()];
    const FrameFlow& way = flow_.ways[frame.way];
    frame.left = way.size();
    frame.waits_for.resize(way.size());
    for (size_t step = 0; step < way.size(); ++step) frame.waits_for[step] = way[step].after.size();
    for (size_t step = 0; step < way.size(); ++step) {
      if (way[step].after.empty()) queue(index, step);
    }
  }

  void queue(size_t index, size_t step) {
    const Frame& frame = frames_[index];
    const size_t resource = flow_.ways[frame.way][step].resource;
    const size_t number = queued_++;
    const size_t rank = resource < flow_.devices ? frame.number : number;
    resources_[resource].waiting.push({rank, number, index, step});
    start_next(resource);
  }

  void start_next(size_t index) {
    Resource& resource = resources_[index];
    if (resource.is_busy || resource.waiting.empty()) return;
    const Waiting next = resource.waiting.top();
    resource.waiting.pop();
    resource.is_busy = true;
    const double seconds = flow_.ways[frames_[next.frame].way][next.step].seconds;
    ends_.push({now_ + seconds, next.number, next.frame, next.step});
  }

  const PipelineFlow& flow_;
  std::vector<std::vector<std::vector<size_t>>> readers_;  ///< per way and step
  std::vector<Resource> resources_;
  std::vector<Frame> frames_;
  size_t oldest_ = 0;  ///< of the frames; the others follow in a ring
  std::priority_queue<End> ends_;
  double now_ = 0;
  size_t begun_ = 0;
  size_t queued_ = 0;
};

}  // namespace

double flow_bound(const PipelineFlow& flow) {
  std::vector<double> load(flow.resources);
  for (const size_t turn : flow.turns) {
    for (const FlowStep& step : flow.ways[turn]) load[step.resource] += step.seconds;
  }
  return load.empty() ? 0 : std::ranges::max(load) / static_cast<double>(flow.turns.size());
}

double flow_period(const PipelineFlow& flow, size_t in_flight) {
  FlowSimulation simulation(flow, in_flight);
  // At either end the frames in flight are at another place of their way. Whole rounds of turns.
  const size_t before = 3 * in_flight;
  const size_t turns = flow.turns.size();
  const size_t frames = (std::max<size_t>(40, 8 * in_flight) + turns - 1) / turns * turns;
  double begin = 0;
  for (size_t i = 0; i < before; ++i) begin = simulation.next_end();
  double end = begin;
  for (size_t i = 0; i < frames; ++i) end = simulation.next_end();
  return end < kNever ? (end - begin) / static_cast<double>(frames) : kNever;
}

FramesInFlight frames_in_flight(const PipelineFlow& flow, size_t most) {
  constexpr double kIdle = 0.02;
  const double enough = flow_bound(flow) * (1 + kIdle);
  FramesInFlight best{1, kNever};
  for (size_t count = 1; count <= most && best.period > enough; count += 1 + count / 4) {
    const double period = flow_period(flow, count);
    if (period < best.period) best = {count, period};
  }
  return best;
}

}  // namespace het::hetero
