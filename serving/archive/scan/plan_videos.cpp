#include "serving/archive/scan/plan_videos.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "inference/base/version.h"
#include "serving/archive/records/pipeline_words.h"
#include "serving/archive/records/shard_key.h"
#include "serving/archive/scan/scan_record.h"
#include "serving/archive/scan/shard_ranges.h"
#include "serving/archive/scan/video_scan.h"
#include "serving/archive/scan/video_words.h"

namespace het::archive {
namespace {

/// Of scans without an end before a video is planned without one.
constexpr uint64_t kMostUnfinished = 2;

/// Scans videos, several at once, but one by one those that a scan has not come to an end of: one
/// of them may crash the process, and the others shall not be blamed.
class ScanPool {
 public:
  ScanPool(const ArchiveFolder& folder, const std::vector<VideoPlace>& videos,
           const ScanProgress& progress, const std::function<bool()>& is_stopped)
      : folder_(folder),
        videos_(videos),
        progress_(progress),
        is_stopped_(is_stopped),
        scans_(videos.size()) {}

  Result<std::vector<VideoScan>> run(size_t threads) {
    for (size_t i = 0; i < videos_.size(); ++i) {
      const std::optional<ScanRecord> known = read_scan(folder_, videos_[i].uri);
      if (known && known->unfinished > 0) HET_TRY(scan(i));
    }
    std::vector<std::thread> workers;
    for (size_t i = 0; i < std::clamp<size_t>(threads, 1, videos_.size()); ++i) {
      workers.emplace_back([this] { work(); });
    }
    for (std::thread& worker : workers) worker.join();
    if (!failure_.ok()) return Failure(failure_);
    return std::move(scans_);
  }

 private:
  void work() {
    for (size_t i = next_++; i < videos_.size(); i = next_++) {
      const Status status = scan(i);
      const std::lock_guard lock(mutex_);
      if (!status.ok()) {
        if (failure_.ok()) failure_ = status;
        next_ = videos_.size();
        return;
      }
      progress_(++scanned_, videos_.size());
    }
  }

  Status scan(size_t index) {
    const VideoPlace& video = videos_[index];
    const std::optional<FileStamp> before = stamp_of(video);
    std::optional<ScanRecord> known = read_scan(folder_, video.uri);
    if (known && before && known->stamp == before && !known->scan.content.empty()) {
      scans_[index] = std::move(known->scan);
      return {};
    }
    const uint64_t unfinished = known && known->stamp == before ? known->unfinished : 0;
    const auto begin = std::chrono::steady_clock::now();
    Result<VideoScan> scan = try_scan(video, before, unfinished);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!scan) return scan.error();
    HET_TRY(write_scan(folder_, {video.uri, before, *scan, took.count()}));
    scans_[index] = std::move(*scan);
    return {};
  }

  /// Leaves a record of the try where the process does not survive it.
  Result<VideoScan> try_scan(const VideoPlace& video, const std::optional<FileStamp>& stamp,
                             uint64_t unfinished) {
    if (unfinished >= kMostUnfinished) {
      return scan_content(
          video,
          fmt::format("the process that parsed it crashed or was killed, {} times", unfinished),
          is_stopped_);
    }
    ScanRecord begun{video.uri, stamp};
    begun.unfinished = unfinished + 1;
    HET_TRY(write_scan(folder_, begun));
    Result<VideoScan> scan = scan_video(video, is_stopped_);
    if (scan && stamp_of(video) != stamp) {
      scan = error(StatusCode::Busy,
                   "'{}' was changed while it was read; plan again when it is "
                   "complete",
                   video.path);
    }
    if (!scan) remove_scan(folder_, video.uri);
    return scan;
  }

  const ArchiveFolder& folder_;
  const std::vector<VideoPlace>& videos_;
  const ScanProgress& progress_;
  const std::function<bool()>& is_stopped_;
  std::vector<VideoScan> scans_;  ///< each by the thread that scans it
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;  ///< protects what follows; taken alone
  size_t scanned_ = 0;
  Status failure_;
};

void add_video(ArchivePlan& plan, const VideoPlace& place, const VideoScan& scan) {
  PlannedVideo& video = plan.videos.emplace_back();
  video.name = place.name;
  video.uri = place.uri;
  video.path = place.path;
  video.content = scan.content;
  video.bytes = scan.bytes;
  video.frames = scan.frames;
  video.duration_ns = scan.duration_ns;
  video.error = scan.error;
  for (PlannedShard& shard : shard_ranges(scan, plan.shard_s, plan.overlap_s)) {
    shard.video = plan.videos.size() - 1;
    video.shards.push_back(plan.shards.size());
    plan.shards.push_back(std::move(shard));
  }
}

}  // namespace

Result<ArchivePlan> plan_videos(const ArchiveFolder& folder, const PlanRequest& request,
                                const ScanProgress& progress,
                                const std::function<bool()>& is_stopped) {
  HET_TRY(check_pipeline(request.pipeline));
  HET_ASSIGN(const std::vector<VideoPlace> videos, find_videos(request.videos));
  ArchivePlan plan;
  plan.pipeline = request.pipeline;
  plan.version = std::string(version());
  plan.shard_s = request.shard_s;
  plan.overlap_s = request.overlap_s;
  HET_ASSIGN(ShardKeys keys, ShardKeys::create(plan.pipeline, plan.version));
  HET_TRY(folder.create());
  HET_ASSIGN(const std::vector<VideoScan> scans,
             ScanPool(folder, videos, progress, is_stopped).run(request.threads));
  for (size_t i = 0; i < videos.size(); ++i) {
    add_video(plan, videos[i], scans[i]);
    keys.fill(plan, i);
  }
  HET_TRY(write_plan(folder, plan));
  return plan;
}

}  // namespace het::archive
