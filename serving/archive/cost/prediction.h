#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace het::archive {

/// What has to be done, in seconds that were measured.
struct ArchiveWork {
  std::vector<double> shard_s;         ///< of each shard, in the order of the plan
  double scan_s = 0;                   ///< the plan, which one machine makes
  double start_s = 0;                  ///< of a process
  double task_start_s = 0;             ///< until the scheduler has started a task
  size_t instances = 1;                ///< processes on a node
  size_t at_once = 1;                  ///< shards under way in a process
  double alone = 1;                    ///< the speed of a process with one, ShardCosts::alone
  double bytes = 0;                    ///< of the videos, each of which is read once
  std::optional<double> storage_rate;  ///< bytes a second that the storage gives to all nodes
};

struct Prediction {
  size_t nodes = 0;
  double total_s = 0;
  double processing_s = 0;  ///< without the scan: from the first task's start to the last one's end
  double even_s = 0;        ///< the work if it were spread evenly
  double longest_s = 0;     ///< the longest shard, alone in a process
  double read_rate = 0;     ///< bytes a second, of all nodes
  size_t idle_nodes = 0;    ///< without a shard
  std::string limit;        ///< what takes most of the time, or would have to change first
};

/// The time on `nodes` (1 or more) alike ones, to which shards are dealt out by index, as
/// `--part I/N` does, and of which each process takes the next one when it has fewer than `at_once`
/// under way.
Prediction predict(const ArchiveWork& work, size_t nodes);

}  // namespace het::archive
