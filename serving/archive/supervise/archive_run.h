#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/launch/supervise/child_process.h"

namespace het::archive {

/// A worker to be kept running.
struct WorkerOrder {
  std::vector<std::string> arguments;
  serving::ChildPlace place;
};

struct RunSettings {
  std::vector<size_t> shards;  ///< indices into the plan's, those that are done too
  std::vector<WorkerOrder> workers;
  size_t at_once = 2;  ///< shards under way in a worker
  size_t tries = 3;
  double stall_s = 60;
  /// How often the run was told to stop.
  std::function<int()> stops;
};

/// How a run has ended.
struct RunOutcome {
  size_t done = 0;
  size_t left = 0;
  std::vector<std::string> given_up;  ///< keys
  bool has_advanced = false;          ///< a shard was done, or failed, in this run
};

/// Does the shards that are missing: feeds workers, starts those anew that have ended, notes who is
/// to blame, tells on standard error how far it is. Fails when nothing can be written or no worker
/// stays alive. The process must have a single thread.
Result<RunOutcome> run_archive(const ArchiveFolder& folder, const ArchivePlan& plan,
                               const RunSettings& settings);

}  // namespace het::archive
