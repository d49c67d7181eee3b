#include "serving/archive/cost/prediction.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace het::archive {
namespace {

/// The end of the last process of a node whose shards are number `node`, node + nodes, ...
double end_of_node(const ArchiveWork& work, size_t node, size_t nodes) {
  std::priority_queue<double, std::vector<double>, std::greater<>> free_at;
  for (size_t i = 0; i < std::max<size_t>(1, work.instances); ++i) free_at.push(work.start_s);
  double end = 0;
  for (size_t i = node; i < work.shard_s.size(); i += nodes) {
    const double done = free_at.top() + work.shard_s[i];
    free_at.pop();
    free_at.push(done);
    end = std::max(end, done);
  }
  return end;
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
  made.longest_s = work.shard_s.empty() ? 0 : *std::ranges::max_element(work.shard_s);
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
