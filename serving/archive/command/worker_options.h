#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "inference/base/status.h"
#include "serving/archive/worker/shard_worker.h"

namespace het::archive {

/// What `worker` and `run` have in common, and what `run` tells its workers.
struct WorkerOptions {
  size_t at_once = 2;
  size_t tries = 3;
  double stall_s = 60;
  size_t max_threads = 0;  ///< 0: as many as processors, or the control groups' quota
  std::string weights = "MACHINE";
  bool tells_progress = false;
};

void add_worker_options(CLI::App& app, WorkerOptions& options);

/// Binds this process to the node, if any, and lays out its threads as `hetero launch` does for one
/// instance. To be called before there are other threads. Fails with InvalidArgument for a node
/// that is not there, with NotSupported where the system refuses.
Result<WorkerSettings> worker_settings(const WorkerOptions& options, std::optional<size_t> node);

}  // namespace het::archive
