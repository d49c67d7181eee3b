#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>

#include "inference/base/status.h"
#include "serving/archive/records/archive_folder.h"
#include "serving/launch/job.h"

namespace het::archive {

/// Exit statuses of a worker.
inline constexpr int kWorkerStalled = 1;      ///< a pipeline could not be stopped after a stall
inline constexpr int kWorkerLeft = 3;         ///< something was dropped
inline constexpr int kWorkerCannotWrite = 4;  ///< nothing can be noted in the folder

struct WorkerSettings {
  size_t at_once = 2;  ///< shards under way together; while one starts, another works
  size_t tries = 3;    ///< after which a shard is given up
  double stall_s = 60;
  size_t decoder_threads = 0;  ///< of each software decoder that leaves it open; 0: as it is
  bool tells_progress = false;
  /// Of devices, set before anything is compiled.
  std::map<std::string, Properties> defaults;
};

/// A process that does shards: takes orders from its standard input until that ends, answers on its
/// standard output (shard_messages.h), and keeps models from one shard to the next. What fails it
/// notes in the folder. What pipelines print on standard output goes to standard error. Takes
/// SIGINT, SIGTERM and SIGHUP: drops what is under way. Returns the exit status, 0 when all was
/// answered.
Result<int> run_worker(const ArchiveFolder& folder, const WorkerSettings& settings);

}  // namespace het::archive
