#include "serving/archive/command/plan_options.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "inference/machine/core_count.h"
#include "serving/archive/command/command_line.h"
#include "serving/archive/command/stop_flag.h"
#include "serving/archive/supervise/time_text.h"
#include "serving/launch/duration.h"
#include "serving/launch/duration_option.h"

namespace het::archive {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double kTrackerOverlapS = 4;
constexpr auto kBetweenLines = std::chrono::seconds(2);

bool has_tracker(const std::vector<std::string>& pipeline) {
  return std::ranges::any_of(pipeline, [](const std::string& word) {
    return word.find("heterotrack") != std::string::npos;
  });
}

void print_plan(const ArchivePlan& plan) {
  uint64_t frames = 0;
  uint64_t duration_ns = 0;
  for (const PlannedVideo& video : plan.videos) {
    frames += video.frames;
    duration_ns += video.duration_ns;
    if (video.error) {
      std::fprintf(stderr, "%s cannot be parsed: %s\n", video.name.c_str(), video.error->c_str());
    }
  }
  std::fprintf(stderr, "%zu videos, %llu frames, %s of video in %zu shards\n", plan.videos.size(),
               static_cast<unsigned long long>(frames),
               duration_text(static_cast<double>(duration_ns) * 1e-9).c_str(), plan.shards.size());
}

}  // namespace

std::vector<std::string> PlanOptions::words() const {
  std::vector<std::string> words = videos;
  words.insert(words.end(), {"-o", folder, "--shard", shard});
  if (overlap_s >= 0) words.insert(words.end(), {"--overlap", fmt::format("{}s", overlap_s)});
  if (scans > 0) words.insert(words.end(), {"--scans", std::to_string(scans)});
  words.emplace_back("--");
  words.insert(words.end(), pipeline.begin(), pipeline.end());
  return words;
}

void add_plan_options(CLI::App& app, PlanOptions& options) {
  app.add_option("VIDEOS", options.videos,
                 "Files, URLs, globs, lists (.txt, .lst, - for standard input: one a line)");
  app.add_option("-o,--output", options.folder, "Folder of the archive, which all machines see")
      ->required();
  app.add_option(
         "--shard", options.shard,
         "whole: a video is a shard (default); a time, as 10s: ranges from key frame to key "
         "frame, at least that long")
      ->option_text("whole|TIME");
  serving::add_duration(
      app, "--overlap", options.overlap_s, 1,
      "What a range plays before its start, for trackers; 4s unless given where the pipeline "
      "has heterotrack, else none");
  app.add_option("--scans", options.scans,
                 "Videos that are scanned at once; one a processor unless given")
      ->check(CLI::Range(1, 1024));
}

Result<PlanRequest> plan_request(const PlanOptions& options) {
  PlanRequest request;
  request.videos = options.videos;
  request.pipeline = options.pipeline;
  if (options.shard != "whole") {
    const auto seconds = serving::parse_duration(options.shard, 1);
    if (!seconds || *seconds < 0.001 || *seconds > 1e6) {
      return error(StatusCode::InvalidArgument,
                   "--shard '{}' is neither whole nor a time from 1 ms on, as 10s", options.shard);
    }
    request.shard_s = *seconds;
  }
  if (options.overlap_s > 1e6) {
    return error(StatusCode::InvalidArgument, "--overlap of {:g} s is too long", options.overlap_s);
  }
  if (options.overlap_s >= 0) {
    request.overlap_s = options.overlap_s;
  } else if (request.shard_s > 0 && has_tracker(options.pipeline)) {
    request.overlap_s = kTrackerOverlapS;
  }
  request.threads = options.scans > 0 ? options.scans : usable_cores();
  return request;
}

Result<ArchivePlan> make_plan(const ArchiveFolder& folder, const PlanOptions& options) {
  HET_ASSIGN(const PlanRequest request, plan_request(options));
  const StopFlag stop;
  auto last_line = Clock::now();
  const auto tell = [&last_line](size_t scanned, size_t videos) {
    if (Clock::now() - last_line < kBetweenLines) return;
    last_line = Clock::now();
    std::fprintf(stderr, "scanned %zu of %zu videos\n", scanned, videos);
  };
  HET_ASSIGN(ArchivePlan plan, plan_videos(folder, request, tell, StopFlag::is_set));
  print_plan(plan);
  return plan;
}

}  // namespace het::archive
