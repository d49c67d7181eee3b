#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/archive/schedulers/slurm_script.h"
#include "serving/launch/duration.h"

namespace het::archive {
namespace {

constexpr size_t kTasksUnlessGiven = 16;
constexpr double kMinuteS = 60;

struct SlurmOptions {
  SlurmJob job;
  std::string merged;  ///< empty: the script of the array
  int instances = 0;
  int tries = 0;
  std::string stall;
};

/// Slurm's times are in minutes where nothing else is said.
CLI::Option* add_slurm_time(CLI::App& app, const std::string& name, double& target,
                            const std::string& text) {
  const auto take = [&target](const CLI::results_t& words) {
    const auto seconds = serving::parse_duration(words.front(), kMinuteS);
    if (!seconds || *seconds < 1 || *seconds > 1e8) return false;
    target = *seconds;
    return true;
  };
  return app.add_option(name, take, text)->type_name("TIME");
}

void add_options(CLI::App& app, SlurmOptions& options) {
  SlurmJob& job = options.job;
  app.add_option("DIR", job.folder, "Folder of the archive, which has a plan")->required();
  app.add_option("--tasks", job.tasks,
                 "Tasks of the job array, each with a part of the shards; 16 unless given, fewer "
                 "where there are fewer shards")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--at-once", job.at_once, "Tasks that may run at the same time")
      ->check(CLI::Range(1, 1000000));
  app.add_option("--cpus-per-task", job.cpus_per_task, "Processors of a task; 1 unless given")
      ->check(CLI::Range(1, 4096));
  app.add_option("--mem", job.memory, "Memory of a task, as 8G");
  add_slurm_time(app, "--time", job.time_s,
                 "Limit of a task, as 4h; a number alone is in minutes, as Slurm's");
  add_slurm_time(app, "--stop-before", job.stop_s,
                 "How long before the limit a task is told to stop; 2min unless given");
  app.add_option("--partition", job.partition, "Slurm's partition");
  app.add_flag("--exclusive", job.exclusive, "A task has its node for itself");
  app.add_option("--sbatch", job.sbatch_options,
                 "Another option of sbatch, as --sbatch=--gres=gpu:1; as often as needed")
      ->option_text("OPTION");
  app.add_option("--program", job.program,
                 "hetero-archive as the nodes see it; this one's path unless given");
  app.add_option("--instances", options.instances, "As for hetero archive run")
      ->check(CLI::Range(1, 4096));
  app.add_option("--tries", options.tries, "As for hetero archive run")->check(CLI::Range(1, 1000));
  app.add_option("--stall", options.stall, "As for hetero archive run")->type_name("TIME");
  app.add_option("--merge", options.merged,
                 "Print the script of the job that comes after the array instead: it merges into "
                 "this file and verifies");
  app.footer(
      "  hetero archive slurm out --tasks 50 --cpus-per-task 8 --mem 8G --time 4h > run.sbatch\n"
      "  hetero archive slurm out --merge all.jsonl > merge.sbatch\n"
      "  sbatch --dependency=afterany:$(sbatch --parsable run.sbatch) merge.sbatch");
}

void add_run_options(SlurmOptions& options) {
  std::vector<std::string>& words = options.job.run_options;
  if (options.instances > 0)
    words.insert(words.end(), {"--instances", std::to_string(options.instances)});
  if (options.tries > 0) words.insert(words.end(), {"--tries", std::to_string(options.tries)});
  if (!options.stall.empty()) words.insert(words.end(), {"--stall", options.stall});
}

Result<std::string> absolute(const std::string& path) {
  std::error_code failure;
  const auto found = std::filesystem::absolute(path, failure);
  if (failure) {
    return error(StatusCode::InvalidArgument, "'{}' has no absolute path: {}", path,
                 failure.message());
  }
  std::string text = found.lexically_normal().string();
  if (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

Result<std::string> script(SlurmOptions& options, bool are_tasks_given) {
  SlurmJob& job = options.job;
  HET_ASSIGN(job.folder, absolute(job.folder));
  const ArchiveFolder folder(job.folder);
  HET_ASSIGN(const ArchivePlan plan, read_plan(folder));
  HET_TRY(folder.create());  // Slurm makes no folder for its logs
  if (!are_tasks_given) {
    job.tasks = std::clamp<size_t>(plan.shards.size(), 1, kTasksUnlessGiven);
  }
  if (job.program.empty()) {
    std::error_code failure;
    job.program = std::filesystem::read_symlink("/proc/self/exe", failure).string();
    if (failure) {
      return error(StatusCode::Internal, "this program's path is unknown ({}); give --program",
                   failure.message());
    }
  }
  add_run_options(options);
  if (options.merged.empty()) return slurm_array_script(job);
  HET_ASSIGN(const std::string merged, absolute(options.merged));
  return slurm_merge_script(job, merged);
}

}  // namespace

int slurm_command(int argc, char** argv) {
  CLI::App app(
      "Prints a job script for Slurm: an array whose tasks do the parts of an archive. Each task "
      "is "
      "bound to its processors and their memory, stops cleanly before its time limit and is then "
      "put back in the queue, as after the loss of its node. Logs are in DIR/logs.",
      "hetero archive slurm");
  SlurmOptions options;
  add_options(app, options);
  if (const auto status = parse_command(app, argc, argv)) return *status;
  const Result<std::string> text = script(options, app.count("--tasks") > 0);
  if (!text) return report_failure(app, text.error());
  std::fputs(text->c_str(), stdout);
  return kExitDone;
}

}  // namespace het::archive
