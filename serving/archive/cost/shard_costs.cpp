#include "serving/archive/cost/shard_costs.h"

#include <algorithm>
#include <compare>
#include <set>

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

struct Worker {
  double begun_s = 0;
  double first_frame_s = 0;
  double ended_s = 0;
  std::vector<MeasuredShard> shards;
};

std::string host_of(const std::string& worker) {
  return worker.substr(0, worker.rfind(':'));
}

/// Most processes of a host that ran at a time.
size_t most_at_once(const std::map<std::string, Worker>& workers) {
  size_t most = 1;
  for (const auto& [name, worker] : workers) {
    const auto is_beside = [&](const auto& other) {
      return host_of(other.first) == host_of(name) && other.second.begun_s <= worker.begun_s &&
             worker.begun_s < other.second.ended_s;
    };
    most = std::max(most, static_cast<size_t>(std::ranges::count_if(workers, is_beside)));
  }
  return most;
}

/// Seconds of a shard from its first frame on, by what else its process had under way.
struct Company {
  double alone_s = 0;
  double beside_s = 0;
  size_t most = 1;  ///< with itself
};

/// Of each shard of a worker.
std::vector<Company> companies_of(const Worker& worker) {
  struct Change {
    double time_s = 0;
    bool is_begin = false;  ///< ends come first
    size_t shard = 0;
    auto operator<=>(const Change&) const = default;
  };
  std::vector<Change> changes;
  for (size_t i = 0; i < worker.shards.size(); ++i) {
    const MeasuredShard& shard = worker.shards[i];
    if (shard.ended_s <= shard.first_frame_s) continue;
    changes.push_back({shard.first_frame_s, true, i});
    changes.push_back({shard.ended_s, false, i});
  }
  std::ranges::sort(changes);
  std::vector<Company> companies(worker.shards.size());
  std::set<size_t> under_way;
  double since_s = 0;
  for (const Change& change : changes) {
    for (const size_t shard : under_way) {
      Company& company = companies[shard];
      (under_way.size() > 1 ? company.beside_s : company.alone_s) += change.time_s - since_s;
      company.most = std::max(company.most, under_way.size());
    }
    since_s = change.time_s;
    if (change.is_begin) {
      under_way.insert(change.shard);
    } else {
      under_way.erase(change.shard);
    }
  }
  return companies;
}

/// Frames a second of a shard alone and beside others, by least squares without a base.
class AloneSpeed {
 public:
  void add(double frames, const Company& company) {
    aa_ += company.alone_s * company.alone_s;
    ab_ += company.alone_s * company.beside_s;
    bb_ += company.beside_s * company.beside_s;
    af_ += company.alone_s * frames;
    bf_ += company.beside_s * frames;
    most_ = std::max(most_, company.most);
  }
  size_t most() const { return most_; }
  double share() const {
    constexpr double kLeast = 1e-3;  // of what tells the two from each other
    const double determinant = aa_ * bb_ - ab_ * ab_;
    if (most_ < 2 || determinant <= kLeast * aa_ * bb_) return 1;
    const double alone = (af_ * bb_ - bf_ * ab_) / determinant;
    const double beside = (bf_ * aa_ - af_ * ab_) / determinant;
    const auto most = static_cast<double>(most_);
    return beside > 0 ? std::clamp(alone / (most * beside), 1 / most, 1.0) : 1;
  }

 private:
  double aa_ = 0, ab_ = 0, bb_ = 0, af_ = 0, bf_ = 0;
  size_t most_ = 1;
};

std::map<std::string, Worker> workers_of(const std::vector<MeasuredShard>& shards) {
  std::map<std::string, Worker> workers;
  for (const MeasuredShard& shard : shards) {
    const auto [found, is_new] = workers.try_emplace(shard.worker);
    Worker& worker = found->second;
    if (is_new) worker.first_frame_s = shard.first_frame_s;
    worker.begun_s = shard.worker_begun_s;
    worker.first_frame_s = std::min(worker.first_frame_s, shard.first_frame_s);
    worker.ended_s = std::max(worker.ended_s, shard.ended_s);
    worker.shards.push_back(shard);
  }
  for (auto& [name, worker] : workers) {
    std::ranges::sort(worker.shards, {}, &MeasuredShard::begun_s);
  }
  return workers;
}

/// How long any shard was under way, from the first frame on: it may have waited for orders.
double busy_s(const Worker& worker) {
  double busy = 0;
  double until = worker.first_frame_s;
  for (const MeasuredShard& shard : worker.shards) {
    busy += std::max(0.0, shard.ended_s - std::max(shard.begun_s, until));
    until = std::max(until, shard.ended_s);
  }
  return busy;
}

}  // namespace

double ShardCosts::of_shard(size_t shard, uint64_t frames) const {
  const auto found = measured.find(shard);
  if (found != measured.end()) return found->second;
  return per_shard_s + per_frame_s * static_cast<double>(frames);
}

ShardCosts measure_costs(const std::vector<MeasuredShard>& shards) {
  ShardCosts costs;
  const std::map<std::string, Worker> workers = workers_of(shards);
  std::vector<Point> points;
  AloneSpeed alone;
  for (const auto& [name, worker] : workers) {
    costs.start_s +=
        std::max(0.0, worker.first_frame_s - worker.begun_s) / static_cast<double>(workers.size());
    double sum = 0;
    for (const MeasuredShard& shard : worker.shards) sum += shard.ended_s - shard.first_frame_s;
    const double share = sum > 0 ? busy_s(worker) / sum : 0;
    const std::vector<Company> companies = companies_of(worker);
    for (size_t i = 0; i < worker.shards.size(); ++i) {
      const MeasuredShard& shard = worker.shards[i];
      const double cost = share * (shard.ended_s - shard.first_frame_s);
      costs.measured[shard.shard] = cost;
      points.push_back({static_cast<double>(shard.frames), cost});
      alone.add(static_cast<double>(shard.frames), companies[i]);
    }
  }
  const Line line = fit(points);
  costs.per_shard_s = line.base;
  costs.per_frame_s = line.slope;
  costs.instances = most_at_once(workers);
  costs.at_once = alone.most();
  costs.alone = alone.share();
  return costs;
}

}  // namespace het::archive
