#include <fmt/format.h>
#include <gst/gst.h>

#include <algorithm>
#include <cstdio>

#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/command/stop_flag.h"
#include "serving/archive/verify/verify.h"

namespace het::archive {
namespace {

struct VerifyOptions {
  std::string folder;
  bool any_frames = false;
  bool redo = false;
};

void print_report(const ArchivePlan& plan, const VerifyReport& report) {
  for (const std::string& remark : report.remarks) std::printf("remark: %s\n", remark.c_str());
  for (const std::string& given_up : report.given_up) {
    std::printf("given up: %s\n", given_up.c_str());
  }
  for (const Fault& fault : report.faults) {
    std::printf("fault: %s; %s\n", fault.what.c_str(), fault.remedy.c_str());
  }
  std::printf(
      "%llu of %zu videos and %llu of %zu shards are complete and right, %llu frames; %zu given "
      "up, %zu faults\n",
      static_cast<unsigned long long>(report.videos), plan.videos.size(),
      static_cast<unsigned long long>(report.shards), plan.shards.size(),
      static_cast<unsigned long long>(report.frames), report.given_up.size(), report.faults.size());
}

Result<int> verify(const VerifyOptions& options) {
  const ArchiveFolder folder(options.folder);
  HET_ASSIGN(const ArchivePlan plan, read_plan(folder));
  HET_ASSIGN(const std::vector<ShardState> states, shard_states(folder, plan));
  const StopFlag stop;
  VerifySettings settings;
  settings.any_frames = options.any_frames;
  settings.is_stopped = StopFlag::is_set;
  HET_ASSIGN(const VerifyReport report, verify_archive(folder, plan, states, settings));
  print_report(plan, report);
  if (options.redo) {
    HET_TRY(redo_shards(folder, plan, report.redo()));
    std::printf("%zu shards will be made anew by the next run\n", report.redo().size());
  }
  return report.faults.empty() ? kExitDone : kExitFailed;
}

}  // namespace

int verify_command(int argc, char** argv) {
  CLI::App app(
      "Checks that every frame of every video was processed once: the plan, what came to the sinks "
      "beside the frames of the videos, outputs beside their notes. What was given up is told and "
      "is no fault.",
      "hetero archive verify");
  VerifyOptions options;
  app.add_option("DIR", options.folder, "Folder of the archive")->required();
  app.add_flag("--any-frames", options.any_frames,
               "The pipeline drops or makes frames itself (videorate): they are not compared with "
               "those of the videos");
  app.add_flag("--redo", options.redo,
               "Removes the notes of shards that are wrong, so that the next run makes them anew");
  app.footer("Exit status: 0 all is right, 1 there are faults, 2 wrong usage.");
  if (const auto status = parse_command(app, argc, argv)) return *status;
  gst_init(nullptr, nullptr);
  const Result<int> status = verify(options);
  return status ? *status : report_failure(app, status.error());
}

}  // namespace het::archive
