#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace het::archive {

/// A shard that was done, as its note tells. Times are seconds by its host's clock.
struct MeasuredShard {
  size_t shard = 0;           ///< its index in the plan
  std::string worker;         ///< the process: host and number
  double worker_begun_s = 0;  ///< when the process began
  double begun_s = 0;
  double first_frame_s = 0;
  double ended_s = 0;
  uint64_t frames = 0;
};

/// What shards and processes cost, by notes.
struct ShardCosts {
  double start_s = 0;      ///< of a process until its first frame: library, model, first shard
  double per_shard_s = 0;  ///< of any shard
  double per_frame_s = 0;
  size_t instances = 1;  ///< processes that ran at a time on the host with the most
  size_t at_once = 1;    ///< shards that were under way at a time in the process with the most
  /// Of what a process does with all of these, the share that it does with one shard alone, from
  /// 1 / at_once (each waits for an accelerator) to 1 (one uses the processor as well as several).
  double alone = 1;
  std::map<size_t, double> measured;  ///< what each measured shard takes of its process' time

  double of_shard(size_t shard, uint64_t frames) const;
};

/// A process has several shards under way, so their own times say too much: together they cost the
/// time in which the process had any after its first frame, and each of them its share of that, by
/// the time in which it had frames. `alone` comes from the frames that shards did alone and beside
/// others, by least squares. Nothing measured: all costs are 0.
ShardCosts measure_costs(const std::vector<MeasuredShard>& shards);

}  // namespace het::archive
