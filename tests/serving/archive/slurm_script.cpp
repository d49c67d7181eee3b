#include "serving/archive/schedulers/slurm_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het::archive {
namespace {

using testing::HasSubstr;
using testing::Not;

SlurmJob job() {
  SlurmJob job;
  job.folder = "/data/out";
  job.program = "/usr/bin/hetero-archive";
  job.tasks = 12;
  job.cpus_per_task = 8;
  return job;
}

TEST(SlurmScript, ATaskDoesItsPartBoundAndIsToldToStopBeforeItsLimit) {
  SlurmJob limited = job();
  limited.at_once = 3;
  limited.memory = "6G";
  limited.time_s = 90000 + 61.5;
  limited.stop_s = 90;
  limited.partition = "video";
  limited.exclusive = true;
  limited.sbatch_options = {"--gres=gpu:1"};
  limited.run_options = {"--tries", "2"};
  const Result<std::string> text = slurm_array_script(limited);
  ASSERT_TRUE(text) << text.error().message();
  for (const char* line :
       {"#!/bin/bash\n", "\n#SBATCH --array=1-12%3\n", "\n#SBATCH --cpus-per-task=8\n",
        "\n#SBATCH --mem=6G\n", "\n#SBATCH --time=1-01:01:02\n", "\n#SBATCH --signal=TERM@90\n",
        "\n#SBATCH --partition=video\n", "\n#SBATCH --exclusive\n", "\n#SBATCH --gres=gpu:1\n",
        "\n#SBATCH --requeue\n", "\n#SBATCH --open-mode=append\n",
        "\n#SBATCH --output=\"/data/out/logs/%A_%a.log\"\n",
        "srun --ntasks=1 --cpus-per-task=8 --cpu-bind=cores --mem-bind=local \\\n",
        "  /usr/bin/hetero-archive run -o /data/out --part \"$SLURM_ARRAY_TASK_ID/12\" --tries 2\n",
        "scontrol requeue \"${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID\""}) {
    EXPECT_THAT(*text, HasSubstr(line));
  }
}

TEST(SlurmScript, WhatIsNotGivenIsLeftToSlurm) {
  const Result<std::string> text = slurm_array_script(job());
  ASSERT_TRUE(text) << text.error().message();
  for (const char* option : {"--mem=", "--time=", "--partition", "--exclusive", "%3"}) {
    EXPECT_THAT(*text, Not(HasSubstr(option)));
  }
}

TEST(SlurmScript, PathsAreQuotedForTheShellAndForSlurm) {
  SlurmJob odd = job();
  odd.folder = "/data/it's \"100 %\" $HOME";
  odd.program = "/opt/a b/hetero-archive";
  const Result<std::string> text = slurm_array_script(odd);
  ASSERT_TRUE(text) << text.error().message();
  EXPECT_THAT(*text, HasSubstr("--output=\"/data/it's \\\"100 %%\\\" $HOME/logs/%A_%a.log\"\n"));
  EXPECT_THAT(*text,
              HasSubstr("'/opt/a b/hetero-archive' run -o '/data/it'\\''s \"100 %\" $HOME' "));
  const Result<std::string> merge = slurm_merge_script(odd, "/data/all of it.jsonl");
  ASSERT_TRUE(merge) << merge.error().message();
  EXPECT_THAT(*merge,
              HasSubstr("merge '/data/it'\\''s \"100 %\" $HOME' -o '/data/all of it.jsonl'\n"));
  EXPECT_THAT(*merge, Not(HasSubstr("--array")));
}

TEST(SlurmScript, WhatAScriptCannotHaveIsRefused) {
  const auto refusal = [](auto change) {
    SlurmJob changed = job();
    change(changed);
    const Result<std::string> text = slurm_array_script(changed);
    return text ? "nothing" : text.error().message();
  };
  EXPECT_THAT(refusal([](SlurmJob& job) { job.folder = "/data/a\nb"; }),
              HasSubstr("choose another"));
  EXPECT_THAT(refusal([](SlurmJob& job) { job.folder = "/data/a\\b"; }),
              HasSubstr("choose another"));
  EXPECT_THAT(refusal([](SlurmJob& job) { job.memory = "8G\nrm"; }), HasSubstr("no memory"));
  EXPECT_THAT(refusal([](SlurmJob& job) { job.partition = "a b"; }), HasSubstr("no partition"));
  EXPECT_THAT(refusal([](SlurmJob& job) { job.sbatch_options = {"gres"}; }),
              HasSubstr("no option of sbatch"));
  EXPECT_THAT(refusal([](SlurmJob& job) { job.time_s = 150; }), HasSubstr("--stop-before"));
  EXPECT_EQ(refusal([](SlurmJob& job) { job.time_s = 3600; }), "nothing");
}

}  // namespace
}  // namespace het::archive
