#include "serving/archive/schedulers/slurm_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "serving/launch/shell_quoted.h"

namespace het::archive {
namespace {

using serving::shell_quoted;

/// The beginning of a pattern of file names behind #SBATCH, in double quotes that are still open: %
/// is twice where it stands for itself.
std::string begin_pattern(std::string_view path) {
  std::string pattern = "\"";
  for (const char c : path) {
    if (c == '"') pattern.push_back('\\');
    if (c == '%') pattern.push_back('%');
    pattern.push_back(c);
  }
  return pattern;
}

std::string time_limit(double time_s) {
  const auto seconds = static_cast<uint64_t>(std::ceil(time_s));
  return fmt::format("{}-{:02}:{:02}:{:02}", seconds / 86400, seconds / 3600 % 24,
                     seconds / 60 % 60, seconds % 60);
}

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return c == '\n' || c == '\r' || c == '\0'; });
}

bool is_word(std::string_view text) {
  return is_one_line(text) && text.find_first_of(" \t\"'\\#") == std::string_view::npos;
}

Status check(const SlurmJob& job) {
  // In a pattern of file names Slurm takes a backslash for "nothing here is to be replaced".
  if (!is_one_line(job.folder) || job.folder.find('\\') != std::string::npos) {
    return error(StatusCode::InvalidArgument,
                 "the folder '{}' has a backslash or an end of line in its name, which Slurm's "
                 "patterns for log files cannot have; choose another",
                 job.folder);
  }
  if (!is_word(job.memory) || !is_word(job.partition)) {
    return error(StatusCode::InvalidArgument,
                 "'{}' is no memory or '{}' no partition that a script can have: no blanks, quotes "
                 "and backslashes",
                 job.memory, job.partition);
  }
  for (const std::string& option : job.sbatch_options) {
    if (is_one_line(option) && option.starts_with("-")) continue;
    return error(StatusCode::InvalidArgument,
                 "--sbatch '{}' is no option of sbatch; give one as it stands there, as "
                 "--sbatch=--gres=gpu:1",
                 option);
  }
  if (job.time_s > 0 && job.time_s < job.stop_s + 60) {
    return error(StatusCode::InvalidArgument,
                 "a time limit of {:g} s leaves less than a minute before tasks are told to stop, "
                 "{:g} s earlier (--stop-before); give more time or stop later",
                 job.time_s, job.stop_s);
  }
  return {};
}

/// Those lines of both scripts that are the same.
std::string sbatch_lines(const SlurmJob& job, std::string_view name, std::string_view log) {
  std::string text = fmt::format("#!/bin/bash\n#SBATCH --job-name={}\n", name);
  if (!job.partition.empty()) text += fmt::format("#SBATCH --partition={}\n", job.partition);
  text += fmt::format("#SBATCH --output={}/logs/{}\"\n", begin_pattern(job.folder), log);
  text += "#SBATCH --open-mode=append\n#SBATCH --requeue\n";
  return text;
}

constexpr std::string_view kArrayBody = R"sh(
# The step is told to stop (SIGTERM) before the time limit and ends with 3 while something is left,
# with 4 if no shard has ended meanwhile: in the same time none will.
# This shell gets SIGTERM only from scancel or where Slurm itself puts the job back; it notes that
# when the step has ended.
is_ended_by_slurm=
trap 'is_ended_by_slurm=yes' TERM
srun --ntasks=1 --cpus-per-task={cpus} --cpu-bind=cores --mem-bind=local \
  {program} run -o {folder} --part "$SLURM_ARRAY_TASK_ID/{tasks}"{options}
status=$?
if [ "$status" = 3 ] && [ -z "$is_ended_by_slurm" ] && [ "${{SLURM_RESTART_COUNT:-0}}" -lt 1000 ]; then
  # Not by SLURM_JOB_ID: that of the last task stands for the whole array.
  scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID" && exit 0
elif [ "$status" = 4 ] && [ -z "$is_ended_by_slurm" ]; then
  echo "no shard has ended within the time limit, so this task is not put back: give more time" \
    "(--time) or plan shorter shards (--shard)" >&2
fi
exit "$status"
)sh";

constexpr std::string_view kMergeBody = R"(
{program} merge {folder} -o {merged}
merged=$?
{program} verify {folder}
verified=$?
exit $((merged > verified ? merged : verified))
)";

}  // namespace

Result<std::string> slurm_array_script(const SlurmJob& job) {
  HET_TRY(check(job));
  std::string text = sbatch_lines(job, "hetero-archive", "%A_%a.log");
  text += fmt::format("#SBATCH --array=1-{}", job.tasks);
  if (job.at_once > 0) text += fmt::format("%{}", job.at_once);
  text += fmt::format("\n#SBATCH --ntasks=1\n#SBATCH --cpus-per-task={}\n", job.cpus_per_task);
  if (!job.memory.empty()) text += fmt::format("#SBATCH --mem={}\n", job.memory);
  if (job.time_s > 0) text += fmt::format("#SBATCH --time={}\n", time_limit(job.time_s));
  text += fmt::format("#SBATCH --signal=TERM@{}\n", static_cast<uint64_t>(std::ceil(job.stop_s)));
  if (job.exclusive) text += "#SBATCH --exclusive\n";
  for (const std::string& option : job.sbatch_options) text += "#SBATCH " + option + "\n";
  std::string options;
  for (const std::string& option : job.run_options) options += " " + shell_quoted(option);
  return text + fmt::format(fmt::runtime(kArrayBody), fmt::arg("cpus", job.cpus_per_task),
                            fmt::arg("program", shell_quoted(job.program)),
                            fmt::arg("folder", shell_quoted(job.folder)),
                            fmt::arg("tasks", job.tasks), fmt::arg("options", options));
}

Result<std::string> slurm_merge_script(const SlurmJob& job, const std::string& merged) {
  HET_TRY(check(job));
  return sbatch_lines(job, "hetero-archive-merge", "merge_%j.log") +
         fmt::format(fmt::runtime(kMergeBody), fmt::arg("program", shell_quoted(job.program)),
                     fmt::arg("folder", shell_quoted(job.folder)),
                     fmt::arg("merged", shell_quoted(merged)));
}

}  // namespace het::archive
