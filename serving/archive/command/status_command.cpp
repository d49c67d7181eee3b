#include <cstdio>
#include <nlohmann/json.hpp>

#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/archive/records/shard_failures.h"
#include "serving/archive/records/shard_note.h"

namespace het::archive {
namespace {

using nlohmann::json;

/// A shard that is not done, with what is known of it.
struct OpenShard {
  const PlannedShard* shard;
  ShardFailures failures;
};

struct ArchiveStatus {
  size_t done = 0;
  uint64_t frames = 0;  ///< by the plan
  uint64_t frames_done = 0;
  double seconds = 0;  ///< of all shards that are done
  std::vector<OpenShard> given_up;
  std::vector<OpenShard> failed;  ///< and to be tried again
  size_t missing = 0;             ///< the failed ones, too
};

Result<ArchiveStatus> read_status(const ArchiveFolder& folder, const ArchivePlan& plan) {
  ArchiveStatus status;
  for (const PlannedShard& shard : plan.shards) {
    status.frames += shard.frames;
    if (const auto note = done_note(folder, shard.key)) {
      ++status.done;
      status.frames_done += note->frames;
      status.seconds += note->seconds;
      continue;
    }
    HET_ASSIGN(ShardFailures failures, read_failures(folder, shard.key));
    if (failures.given_up) {
      status.given_up.push_back({&shard, std::move(failures)});
      continue;
    }
    ++status.missing;
    if (!failures.tries.empty()) status.failed.push_back({&shard, std::move(failures)});
  }
  return status;
}

json shards_json(const ArchivePlan& plan, const std::vector<OpenShard>& shards) {
  json list = json::array();
  for (const OpenShard& open : shards) {
    const FailedTry& last = open.failures.tries.back();
    list.push_back({{"video", plan.videos[open.shard->video].name},
                    {"key", open.shard->key},
                    {"start_ns", open.shard->start_ns},
                    {"tries", open.failures.tries.size()},
                    {"kind", to_text(last.kind)},
                    {"host", last.host},
                    {"error", last.error}});
  }
  return list;
}

void print_json(const ArchivePlan& plan, const ArchiveStatus& status) {
  const json value = {{"videos", plan.videos.size()},
                      {"shards", plan.shards.size()},
                      {"done", status.done},
                      {"missing", status.missing},
                      {"frames", status.frames},
                      {"frames_done", status.frames_done},
                      {"seconds", status.seconds},
                      {"given_up", shards_json(plan, status.given_up)},
                      {"failed", shards_json(plan, status.failed)}};
  std::printf("%s\n", value.dump(1, ' ', false, json::error_handler_t::replace).c_str());
}

void print_shards(const char* what, const ArchivePlan& plan, const std::vector<OpenShard>& shards) {
  for (const OpenShard& open : shards) {
    const FailedTry& last = open.failures.tries.back();
    const std::string& name = plan.videos[open.shard->video].name;
    std::printf("%s: %s", what, name.c_str());
    if (!plan.is_whole(*open.shard)) {
      std::printf(" from %.3f s", static_cast<double>(open.shard->start_ns) * 1e-9);
    }
    std::printf(": %zu %s, the last on %s: %s: %s\n", open.failures.tries.size(),
                open.failures.tries.size() == 1 ? "try" : "tries", last.host.c_str(),
                to_text(last.kind), last.error.c_str());
  }
}

void print_text(const ArchivePlan& plan, const ArchiveStatus& status) {
  std::printf("%zu of %zu shards of %zu videos are done, %zu are missing, %zu given up\n",
              status.done, plan.shards.size(), plan.videos.size(), status.missing,
              status.given_up.size());
  std::printf("%llu of about %llu frames\n", static_cast<unsigned long long>(status.frames_done),
              static_cast<unsigned long long>(status.frames));
  print_shards("failed, to be tried again", plan, status.failed);
  print_shards("given up", plan, status.given_up);
}

}  // namespace

int status_command(int argc, char** argv) {
  CLI::App app(
      "How far an archive is. Exit status: 0 all is done, 1 all but what was given up, 3 something "
      "is missing.",
      "hetero archive status");
  std::string path;
  bool as_json = false;
  app.add_option("DIR", path, "Folder of the archive")->required();
  app.add_flag("--json", as_json, "The same as JSON");
  if (const auto status = parse_command(app, argc, argv)) return *status;
  const ArchiveFolder folder(path);
  const Result<ArchivePlan> plan = read_plan(folder);
  if (!plan) return report_failure(app, plan.error());
  const Result<ArchiveStatus> status = read_status(folder, *plan);
  if (!status) return report_failure(app, status.error());
  if (as_json) {
    print_json(*plan, *status);
  } else {
    print_text(*plan, *status);
  }
  if (status->missing > 0) return kExitLeft;
  return status->given_up.empty() ? kExitDone : kExitFailed;
}

}  // namespace het::archive
