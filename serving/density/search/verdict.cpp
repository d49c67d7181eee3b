#include "serving/density/search/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace het::density {
namespace {

/// Sorted values; nearest rank, with room for what 0.99 x 100 is in floating point.
double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(sorted.size()) - 1e-9);
  return sorted[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

Latencies latencies_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {quantile(values, 0.5), quantile(values, 0.9), quantile(values, 0.99),
          values.empty() ? 0 : values.back()};
}

struct StreamVerdict {
  Latencies latencies;
  double rate = 0;
  double drop = 0;
  Limit limit = Limit::None;
};

StreamVerdict judge_stream(const StreamTimes& stream, double window_s, const Goal& goal) {
  std::vector<double> values;
  uint64_t in_time = 0;
  for (const Arrival& arrival : stream.arrivals) {
    if (arrival.latency_ms > goal.lost_after_s() * 1000) continue;
    values.push_back(arrival.latency_ms);
    // A frame that becomes due in the window's last moment has the goal's latency to arrive.
    const double arrived_s = arrival.due_s + arrival.latency_ms / 1000;
    if (arrived_s <= window_s + goal.p99_ms / 1000) ++in_time;
  }
  const auto due = static_cast<double>(stream.due);
  StreamVerdict verdict;
  verdict.drop = due > 0 ? 1 - static_cast<double>(values.size()) / due : 1;
  // Of the frames that are due, so that a window with part of a frame's time makes no difference.
  verdict.rate = due > 0 ? goal.fps * static_cast<double>(in_time) / due : 0;
  verdict.latencies = latencies_of(std::move(values));
  constexpr double kRounding = 1e-9;
  if (verdict.latencies.p99_ms > goal.p99_ms) {
    verdict.limit = Limit::Latency;
  } else if (verdict.drop > goal.drop + kRounding) {
    verdict.limit = Limit::Drop;
  } else if (verdict.rate < (1 - goal.drop) * goal.fps - kRounding) {
    verdict.limit = Limit::Rate;
  }
  return verdict;
}

}  // namespace

double Goal::lost_after_s() const {
  return std::max(1.0, 2 * p99_ms / 1000);
}

double Goal::hopeless_s() const {
  return std::max(2.0, 5 * p99_ms / 1000);
}

const char* to_string(Limit limit) {
  switch (limit) {
    case Limit::None:
      return "none";
    case Limit::Latency:
      return "latency";
    case Limit::Rate:
      return "rate";
    case Limit::Drop:
      return "drop";
  }
  return "none";
}

std::string Verdict::reason(const Goal& goal) const {
  switch (limit) {
    case Limit::None:
      return "";
    case Limit::Latency:
      return fmt::format("p99 of {:.0f} ms is above {:g} ms", worst.p99_ms, goal.p99_ms);
    case Limit::Rate:
      return fmt::format("{:.2f} frames/s are below {:.2f}", rate, (1 - goal.drop) * goal.fps);
    case Limit::Drop:
      return fmt::format("{:.1f} % of the frames are lost, more than {:g} %", drop * 100,
                         goal.drop * 100);
  }
  return "";
}

Verdict judge(const TrialReport& report, const Goal& goal) {
  Verdict verdict;
  verdict.streams = report.streams.size();
  verdict.rate = goal.fps;
  verdict.memory_mib = report.memory_mib;
  verdict.ended_early = report.ended_early;
  std::vector<double> all;
  for (const StreamTimes& stream : report.streams) {
    const StreamVerdict of_stream = judge_stream(stream, report.window_s, goal);
    if (of_stream.latencies.p99_ms >= verdict.worst.p99_ms) verdict.worst = of_stream.latencies;
    verdict.rate = std::min(verdict.rate, of_stream.rate);
    verdict.drop = std::max(verdict.drop, of_stream.drop);
    if (of_stream.limit != Limit::None) {
      ++verdict.failed_streams;
      // Of several streams the kind that the table's numbers show most clearly.
      if (verdict.limit == Limit::None || of_stream.limit == Limit::Latency) {
        verdict.limit = of_stream.limit;
      }
    }
    for (const Arrival& arrival : stream.arrivals) all.push_back(arrival.latency_ms);
  }
  const auto frames = static_cast<double>(all.size());
  verdict.cpu_ms_per_frame = frames > 0 ? report.cpu_s * 1000 / frames : 0;
  verdict.cpus = report.cpu_s / report.window_s;
  verdict.all = latencies_of(std::move(all));
  return verdict;
}

}  // namespace het::density
