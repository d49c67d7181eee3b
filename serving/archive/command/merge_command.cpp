#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/command/stop_flag.h"
#include "serving/archive/merge/merge.h"

namespace het::archive {
namespace {

struct MergeOptions {
  std::string folder;
  std::string output;
  std::string rows = "objects";
  bool allow_missing = false;
};

void say(const std::string& text) {
  std::fprintf(stderr, "hetero archive merge: %s\n", text.c_str());
}

std::string count_text(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

/// A merged file that takes the place of what it is made of would be lost work.
Status check_place(const ArchiveFolder& folder, const std::string& output) {
  namespace fs = std::filesystem;
  std::error_code failed;
  const fs::path place = fs::weakly_canonical(output, failed).parent_path();
  for (const char* name : {"outputs", "notes", "failures", "scans"}) {
    if (place != fs::weakly_canonical(folder.path() / name, failed)) continue;
    return error(StatusCode::InvalidArgument,
                 "'{}' would be among the archive's own files; name one in another folder", output);
  }
  return {};
}

Status check_complete(const ArchivePlan& plan, const std::vector<LeftOut>& left,
                      const MergeOptions& options) {
  const auto missing =
      std::ranges::count_if(left, [](const LeftOut& shard) { return !shard.given_up; });
  for (const LeftOut& shard : left) {
    say(fmt::format("{}: {}: {}", shard.given_up ? "given up" : "missing",
                    shard_text(plan, shard.shard), shard.reason));
  }
  if (missing == 0 || options.allow_missing) return {};
  return error(StatusCode::NotFound,
               "{} of {} missing, and '{}' is not written; `hetero archive run -o {}` does them, "
               "--allow-missing merges without",
               missing, count_text(plan.shards.size(), "shard"), options.output, options.folder);
}

void print_identities(const ArchivePlan& plan, const MergeReport& report) {
  if (report.borders.empty()) return;
  const size_t crossed = report.crossed();
  std::string share;
  if (crossed > 0) {
    share = fmt::format(
        " ({:.1f} %)", 100.0 * static_cast<double>(report.joined()) / static_cast<double>(crossed));
  }
  say(fmt::format("{} crossed {}, {} of them joined{}", count_text(crossed, "object"),
                  count_text(report.borders.size(), "border"), report.joined(), share));
  for (const MergedBorder& border : report.borders) {
    if (border.identities.new_ids.empty()) continue;
    say(fmt::format("{}: not joined, so with new ids: {}", shard_text(plan, border.shard),
                    fmt::join(border.identities.new_ids, ", ")));
  }
}

Status merge(const MergeOptions& options) {
  const ArchiveFolder folder(options.folder);
  HET_ASSIGN(const ArchivePlan plan, read_plan(folder));
  HET_TRY(check_place(folder, options.output));
  HET_ASSIGN(const std::vector<ShardState> states, shard_states(folder, plan));
  HET_TRY(check_complete(plan, left_out(states), options));
  const ParquetRows rows = options.rows == "frames" ? ParquetRows::Frames : ParquetRows::Objects;
  const StopFlag stop;
  HET_ASSIGN(const auto file, create_merged_file(options.output, rows));
  HET_ASSIGN(const MergeReport report, merge_shards(folder, plan, states, *file, StopFlag::is_set));
  HET_TRY(file->keep());
  print_identities(plan, report);
  say(fmt::format("'{}' has {} of {} with {}, {}", options.output, report.shards,
                  count_text(plan.shards.size(), "shard"), count_text(report.frames, "frame"),
                  count_text(report.lines, "line")));
  return {};
}

}  // namespace

int merge_command(int argc, char** argv) {
  CLI::App app(
      "Makes one file of the results of all shards: videos in the plan's order, each in order of "
      "time. Lines of whole files stay as they are; of ranges, ids are joined over their borders.",
      "hetero archive merge");
  MergeOptions options;
  app.add_option("DIR", options.folder, "Folder of the archive")->required();
  app.add_option("-o,--output", options.output,
                 "File that ends in .jsonl, or in .parquet (by PyPI's pyarrow); replaced as a "
                 "whole when all is written")
      ->required();
  app.add_option("--rows", options.rows,
                 "Of Parquet: a row for each of the objects (default) or of the frames")
      ->check(CLI::IsMember({"objects", "frames"}));
  app.add_flag("--allow-missing", options.allow_missing,
               "Merges what is there, too, when shards are missing that were not given up");
  if (const auto status = parse_command(app, argc, argv)) return *status;
  const Status status = merge(options);
  return status.ok() ? kExitDone : report_failure(app, status);
}

}  // namespace het::archive
