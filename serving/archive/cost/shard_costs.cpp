#include "serving/archive/cost/shard_costs.h"

#include <algorithm>

namespace het::archive {
namespace {

/// A line through points by least squares whose both parts are 0 or more.
struct Line {
  double base = 0;
  double slope = 0;
};

struct Point {
  double x = 0;
  double y = 0;
};

Line fit(const std::vector<Point>& points) {
  if (points.empty()) return {};
  const double count = static_cast<double>(points.size());
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const Point& point : points) {
    x += point.x;
    y += point.y;
    xx += point.x * point.x;
    xy += point.x * point.y;
  }
  const double spread = xx - x * x / count;
  // Shards of one length: nothing tells the parts from each other, and nothing needs to.
  const double slope = spread > 1e-9 * xx ? (xy - x * y / count) / spread : -1;
  const double base = (y - slope * x) / count;
  if (slope < 0 || base < 0) return xx > 0 ? Line{0, xy / xx} : Line{y / count, 0};
  return {base, slope};
}

/// Most processes of a host that ran at a time.
size_t most_at_once(const std::map<std::string, std::pair<double, double>>& spans) {
  size_t most = 1;
  for (const auto& [worker, span] : spans) {
    const std::string host = worker.substr(0, worker.rfind(':'));
    size_t running = 0;
    for (const auto& [other, its] : spans) {
      const bool is_there = its.first <= span.first && span.first < its.second;
      if (is_there && other.substr(0, other.rfind(':')) == host) ++running;
    }
    most = std::max(most, running);
  }
  return most;
}

}  // namespace

double ShardCosts::of_shard(size_t shard, uint64_t frames) const {
  const auto found = measured.find(shard);
  if (found != measured.end()) return found->second;
  return per_shard_s + per_frame_s * static_cast<double>(frames);
}

ShardCosts measure_costs(std::vector<MeasuredShard> shards) {
  std::ranges::sort(shards, {}, &MeasuredShard::ended_s);
  ShardCosts costs;
  std::map<std::string, double> last_end;
  std::map<std::string, std::pair<double, double>> spans;
  std::vector<Point> points;
  std::vector<std::pair<MeasuredShard, double>> firsts;
  for (const MeasuredShard& shard : shards) {
    const auto [last, is_first] = last_end.try_emplace(shard.worker, shard.worker_begun_s);
    auto& span = spans.try_emplace(shard.worker, shard.worker_begun_s, shard.ended_s).first->second;
    span.second = shard.ended_s;
    if (is_first) {
      firsts.emplace_back(shard, shard.ended_s - shard.worker_begun_s);
    } else {
      // It may have waited for work in between.
      const double took = shard.ended_s - std::max(last->second, shard.begun_s);
      costs.measured[shard.shard] = took;
      points.push_back({static_cast<double>(shard.frames), took});
    }
    last->second = shard.ended_s;
  }
  // Processes that have done one shard each: their start cannot be told from it.
  if (points.empty()) {
    for (const auto& [shard, took] : firsts) {
      points.push_back({static_cast<double>(shard.frames), shard.ended_s - shard.begun_s});
    }
  }
  const Line line = fit(points);
  costs.per_shard_s = line.base;
  costs.per_frame_s = line.slope;
  costs.instances = most_at_once(spans);
  for (const auto& [shard, took] : firsts) {
    const double work = line.base + line.slope * static_cast<double>(shard.frames);
    costs.start_s += std::max(0.0, took - work) / static_cast<double>(firsts.size());
  }
  return costs;
}

}  // namespace het::archive
