#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::archive {

/// What the job scripts of an archive are made of. Empty or 0: Slurm's default.
struct SlurmJob {
  std::string folder;   ///< of the archive, absolute
  std::string program;  ///< hetero-archive, absolute, as the nodes see it
  size_t tasks = 1;     ///< of the array; each does one part of as many
  size_t at_once = 0;   ///< tasks that may run at the same time; 0: no limit
  size_t cpus_per_task = 1;
  std::string memory;   ///< of a task, as Slurm takes it: 8G
  double time_s = 0;    ///< limit of a task
  double stop_s = 120;  ///< how long before the limit a task is told to stop
  std::string partition;
  bool exclusive = false;
  std::vector<std::string> sbatch_options;  ///< others, as they are: --gres=gpu:1
  std::vector<std::string> run_options;     ///< for `hetero archive run`, as they are
};

/// The job array. Each task runs `hetero archive run` for its part, bound to its processors and
/// their memory; told to stop before the time limit it stops cleanly and is put back in the queue.
/// Fails with InvalidArgument.
Result<std::string> slurm_array_script(const SlurmJob& job);

/// The job that comes after the array: merges into `merged`, absolute, and verifies. Fails with
/// InvalidArgument.
Result<std::string> slurm_merge_script(const SlurmJob& job, const std::string& merged);

}  // namespace het::archive
