#include "serving/archive/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "serving/archive/scan/scan_record.h"
#include "serving/archive/verify/decoded_frames.h"
#include "serving/archive/verify/output_check.h"
#include "serving/archive/verify/stray_files.h"

namespace het::archive {
namespace {

constexpr const char* kRedo = "run it anew: hetero archive verify --redo, then hetero archive run";
constexpr const char* kRun = "hetero archive run does it";
constexpr const char* kPlan = "plan anew: hetero archive plan";

/// Times of a shard, as a note has them.
std::string digest_of(const PlannedShard& shard, bool is_whole, const DecodedFrames& frames,
                      uint64_t& count) {
  std::vector<uint64_t> times;
  for (const uint64_t time : frames.times_ns) {
    if (shard.has(time)) times.push_back(time);
  }
  const uint64_t untimed = is_whole ? frames.untimed : 0;
  count = times.size() + untimed;
  return timestamps_digest(std::move(times), untimed);
}

class VideoCheck {
 public:
  VideoCheck(const ArchiveFolder& folder, const ArchivePlan& plan,
             const std::vector<ShardState>& states, const VerifySettings& settings,
             VerifyReport& report)
      : folder_(folder), plan_(plan), states_(states), settings_(settings), report_(report) {
    for (const std::string& word : plan.pipeline) {
      line_per_frame_ = line_per_frame_ || word == "add-empty-results=true";
    }
    line_per_frame_ = line_per_frame_ && !settings.any_frames;
  }

  Status check(size_t index) {
    const PlannedVideo& video = plan_.videos[index];
    const size_t faults = report_.faults.size();
    parsed_.reset();
    decoded_.reset();
    check_ranges(video);
    check_unchanged(video);
    bool is_done = true;
    for (const size_t shard : video.shards) {
      const ShardState& state = states_[shard];
      is_done = is_done && state.note.has_value();
      if (state.note) {
        HET_TRY(check_shard(video, shard, *state.note));
      } else if (state.given_up) {
        report_.given_up.push_back(fmt::format("{}: {}", shard_text(plan_, shard), state.reason));
      } else {
        add_fault(shard, "it is missing: " + state.reason, kRun, false);
      }
    }
    if (is_done && report_.faults.size() == faults) ++report_.videos;
    return {};
  }

 private:
  void add_fault(size_t shard, const std::string& what, const char* remedy, bool is_redone) {
    report_.faults.push_back({fmt::format("{}: {}", shard_text(plan_, shard), what), remedy,
                              is_redone ? std::optional(shard) : std::nullopt});
  }

  /// Ranges that leave nothing out and have nothing twice.
  void check_ranges(const PlannedVideo& video) {
    uint64_t frames = 0;
    std::optional<uint64_t> last_stop = 0;
    for (const size_t shard : video.shards) {
      const PlannedShard& planned = plan_.shards[shard];
      frames += planned.frames;
      const bool follows = last_stop && planned.start_ns == *last_stop;
      if (!follows && shard != video.shards.front()) {
        add_fault(shard, fmt::format("its range does not begin where the one before it ends"),
                  kPlan, false);
      }
      last_stop = planned.stop_ns;
    }
    if (last_stop) {
      add_fault(video.shards.back(), "its range does not go to the video's end", kPlan, false);
    }
    if (frames != video.frames) {
      add_fault(video.shards.front(),
                fmt::format("the shards of its video have {} frames in all, the video has {}",
                            frames, video.frames),
                kPlan, false);
    }
  }

  void check_unchanged(const PlannedVideo& video) {
    const std::optional<ScanRecord> scan = read_scan(folder_, video.uri);
    if (!scan) return;
    if (!scan->scan.error) {
      parsed_ =
          DecodedFrames{scan->scan.timestamps, scan->scan.frames - scan->scan.timestamps.size()};
    }
    const std::optional<FileStamp> now = stamp_of({video.name, video.uri, video.path});
    if (video.path.empty() || !scan->stamp || now == scan->stamp) return;
    const char* what = now ? "the video is another one than it was when it was planned"
                           : "the video is not there any more";
    add_fault(video.shards.front(), what, kPlan, false);
  }

  Status check_shard(const PlannedVideo& video, size_t shard, const ShardNote& note) {
    const size_t faults = report_.faults.size();
    const std::string wrong = output_fault(folder_, plan_.shards[shard], note, line_per_frame_);
    if (!wrong.empty()) add_fault(shard, wrong, kRedo, true);
    if (!settings_.any_frames) HET_TRY(check_frames(video, shard, note));
    if (report_.faults.size() != faults) return {};
    ++report_.shards;
    report_.frames += note.frames;
    return {};
  }

  /// What came to the sink beside what parsing found, or else what a decoder gives.
  Status check_frames(const PlannedVideo& video, size_t shard, const ShardNote& note) {
    const PlannedShard& planned = plan_.shards[shard];
    const bool is_whole = plan_.is_whole(planned);
    uint64_t count = 0;
    if (parsed_ && digest_of(planned, is_whole, *parsed_, count) == note.timestamps) return {};
    if (!decoded_) {
      Result<DecodedFrames> decoded = decode_frames(video.uri, settings_.is_stopped);
      if (!decoded && decoded.error().code() == StatusCode::Cancelled) {
        return std::move(decoded.error());
      }
      if (!decoded) {
        add_fault(shard,
                  fmt::format("{} frames came to its sink, {} were parsed, and decoding it for a "
                              "comparison fails: {}",
                              note.frames, planned.frames, decoded.error().message()),
                  kRedo, true);
        return {};
      }
      decoded_ = std::move(*decoded);
      tell_difference(video);
    }
    if (digest_of(planned, is_whole, *decoded_, count) == note.timestamps) return {};
    add_fault(shard,
              fmt::format("{} frames came to its sink, a decoder gives {}{}", note.frames, count,
                          note.frames == count ? " with other timestamps" : ""),
              "run it anew (hetero archive verify --redo, then hetero archive run); a pipeline "
              "that drops "
              "or makes frames itself is checked with --any-frames",
              true);
    return {};
  }

  void tell_difference(const PlannedVideo& video) {
    const uint64_t decoded = decoded_->times_ns.size() + decoded_->untimed;
    if (decoded == video.frames) {
      report_.remarks.push_back(
          fmt::format("video '{}': a decoder gives its {} frames other times than parsing does",
                      video.name, decoded));
      return;
    }
    report_.remarks.push_back(
        fmt::format("video '{}': parsing finds {} frames and a decoder gives {}, which count "
                    "(fields of one picture, pictures that are not shown or cannot be decoded)",
                    video.name, video.frames, decoded));
  }

  const ArchiveFolder& folder_;
  const ArchivePlan& plan_;
  const std::vector<ShardState>& states_;
  const VerifySettings& settings_;
  VerifyReport& report_;
  bool line_per_frame_ = false;
  // Of the video in hand.
  std::optional<DecodedFrames> parsed_;
  std::optional<DecodedFrames> decoded_;
};

}  // namespace

Result<VerifyReport> verify_archive(const ArchiveFolder& folder, const ArchivePlan& plan,
                                    const std::vector<ShardState>& states,
                                    const VerifySettings& settings) {
  VerifyReport report;
  VideoCheck check(folder, plan, states, settings, report);
  for (size_t i = 0; i < plan.videos.size(); ++i) {
    HET_TRY(check.check(i));
    if (settings.is_stopped()) return error(StatusCode::Cancelled, "stopped");
  }
  HET_ASSIGN(const StrayFiles stray, stray_files(folder, plan));
  for (const std::string& name : stray.unknown) {
    report.faults.push_back(
        {fmt::format("'{}' in outputs/ belongs to no shard", name), "take it away", std::nullopt});
  }
  if (stray.of_other_plans > 0) {
    report.remarks.push_back(fmt::format(
        "{} outputs of other plans (another pipeline, other videos) stay where they are",
        stray.of_other_plans));
  }
  return report;
}

std::set<size_t> VerifyReport::redo() const {
  std::set<size_t> found;
  for (const Fault& fault : faults) {
    if (fault.redo) found.insert(*fault.redo);
  }
  return found;
}

Status redo_shards(const ArchiveFolder& folder, const ArchivePlan& plan,
                   const std::set<size_t>& shards) {
  for (const size_t shard : shards) {
    const std::filesystem::path note = folder.note(plan.shards[shard].key);
    std::error_code failed;
    std::filesystem::remove(note, failed);
    if (failed) {
      return error(StatusCode::NotFound, "cannot remove '{}': {}", note.string(), failed.message());
    }
  }
  return {};
}

}  // namespace het::archive
