#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace het::archive {

/// A shard that was done, as its note tells.
struct MeasuredShard {
  size_t shard = 0;           ///< its index in the plan
  std::string worker;         ///< the process: host and number
  double worker_begun_s = 0;  ///< when the process began, by its host's clock
  double begun_s = 0;
  double ended_s = 0;
  uint64_t frames = 0;
};

/// What shards and processes cost, by notes.
struct ShardCosts {
  double start_s = 0;      ///< of a process until its first shard is under way: library, model
  double per_shard_s = 0;  ///< of any shard
  double per_frame_s = 0;
  size_t instances = 1;               ///< processes that ran at a time on the host with the most
  std::map<size_t, double> measured;  ///< of each measured shard: the time that its process took on

  double of_shard(size_t shard, uint64_t frames) const;
};

/// A process may have several shards under way, so what one costs is the time from the end of the
/// shard before it to its own. Nothing measured: all is 0.
ShardCosts measure_costs(std::vector<MeasuredShard> shards);

}  // namespace het::archive
