#include "serving/archive/cost/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace het::archive {
namespace {

/// The shards of a node, each with what is left of it, under way in its processes.
class NodeRun {
 public:
  explicit NodeRun(const ArchiveWork& work)
      : work_(work), processes_(std::max<size_t>(1, work.instances)) {}

  /// When the last of these shards has ended, after the start of the processes.
  double end(const std::vector<double>& shards) {
    size_t next = 0;
    double now = 0;
    while (true) {
      for (std::vector<double>* free = least_busy(); free && next < shards.size();
           free = least_busy()) {
        free->push_back(shards[next++]);
      }
      const double step = time_to_next_end();
      if (step < 0) return now;
      now += step;
      for (std::vector<double>& under_way : processes_) advance(under_way, step);
    }
  }

 private:
  /// One that takes another shard.
  std::vector<double>* least_busy() {
    const auto found = std::ranges::min_element(processes_, {}, &std::vector<double>::size);
    return found->size() < std::max<size_t>(1, work_.at_once) ? &*found : nullptr;
  }

  /// Of each shard in a process with so many.
  double speed(size_t count) const {
    const auto most = static_cast<double>(work_.at_once);
    const auto here = static_cast<double>(count);
    const double full =
        count < work_.at_once ? work_.alone + (1 - work_.alone) * (here - 1) / (most - 1) : 1;
    return full / here;
  }

  /// Less than 0 where nothing is under way.
  double time_to_next_end() const {
    double least = -1;
    for (const std::vector<double>& under_way : processes_) {
      if (under_way.empty()) continue;
      const double time = std::ranges::min(under_way) / speed(under_way.size());
      if (least < 0 || time < least) least = time;
    }
    return least;
  }

  void advance(std::vector<double>& under_way, double step) const {
    if (under_way.empty()) return;
    constexpr double kRounding = 1e-9;
    const double done = step * speed(under_way.size());
    for (double& left : under_way) left -= done;
    std::erase_if(under_way, [](double left) { return left <= kRounding; });
  }

  const ArchiveWork& work_;
  std::vector<std::vector<double>> processes_;
};

/// The end of the last process of a node whose shards are number `node`, node + nodes, ...
double end_of_node(const ArchiveWork& work, size_t node, size_t nodes) {
  std::vector<double> shards;
  for (size_t i = node; i < work.shard_s.size(); i += nodes) shards.push_back(work.shard_s[i]);
  return work.start_s + NodeRun(work).end(shards);
}

std::string limit_of(const ArchiveWork& work, const Prediction& made, double storage_s) {
  const double starts = work.task_start_s + work.start_s;
  const double uneven =
      made.processing_s - starts - std::max({made.even_s, made.longest_s, storage_s});
  std::vector<std::pair<double, std::string>> parts = {
      {made.even_s, "the work itself: more nodes make it shorter"},
      {made.longest_s > made.even_s ? made.longest_s : 0,
       fmt::format("the longest shard, {:.1f} s: shorter shards", made.longest_s)},
      {work.scan_s, fmt::format("the scan, {:.1f} s on one machine before all else", work.scan_s)},
      {work.start_s,
       fmt::format("the start of processes, {:.1f} s each (library, model)", work.start_s)},
      {work.task_start_s,
       fmt::format("the scheduler's start of tasks, {:.1f} s", work.task_start_s)},
      {uneven, fmt::format("dealing out: the node with the most work takes {:.1f} s longer than an "
                           "even share; shorter shards",
                           std::max(uneven, 0.0))},
      {storage_s > made.even_s ? storage_s : 0,
       fmt::format("the storage, {:.1f} s for {:.1f} GB", storage_s, work.bytes / 1e9)}};
  return std::ranges::max_element(parts, {}, [](const auto& part) { return part.first; })->second;
}

}  // namespace

Prediction predict(const ArchiveWork& work, size_t nodes) {
  Prediction made;
  made.nodes = nodes;
  const size_t busy = std::min(nodes, work.shard_s.size());
  made.idle_nodes = nodes - busy;
  const double processes = static_cast<double>(nodes * std::max<size_t>(1, work.instances));
  made.even_s = std::accumulate(work.shard_s.begin(), work.shard_s.end(), 0.0) / processes;
  made.longest_s = work.shard_s.empty() ? 0 : std::ranges::max(work.shard_s) / work.alone;
  double last = 0;
  for (size_t node = 0; node < busy; ++node) last = std::max(last, end_of_node(work, node, nodes));
  const double storage_s = work.storage_rate ? work.bytes / *work.storage_rate : 0;
  made.processing_s = busy == 0 ? 0 : work.task_start_s + std::max(last, work.start_s + storage_s);
  made.total_s = work.scan_s + made.processing_s;
  if (made.processing_s > 0) made.read_rate = work.bytes / made.processing_s;
  made.limit = limit_of(work, made, storage_s);
  return made;
}

}  // namespace het::archive
