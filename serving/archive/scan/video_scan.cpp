#include "serving/archive/scan/video_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "serving/archive/records/sha256.h"
#include "serving/archive/scan/parsing_run.h"
#include "serving/archive/scan/uri_content.h"

namespace het::archive {
namespace {

namespace fs = std::filesystem;

Result<FileDigest> content_of(const VideoPlace& video, const std::function<bool()>& is_stopped) {
  if (video.path.empty()) return digest_uri(video.uri, is_stopped);
  // Opening a FIFO would wait for its writer.
  std::error_code failed;
  if (fs::exists(video.path, failed) && !fs::is_regular_file(video.path, failed)) {
    return error(StatusCode::InvalidArgument, "'{}' is no regular file", video.path);
  }
  return digest_file(video.path, is_stopped);
}

}  // namespace

bool VideoScan::has_exact_times() const {
  return frames > 0 && timestamps.size() == frames &&
         std::ranges::adjacent_find(timestamps) == timestamps.end();
}

Result<VideoScan> scan_content(const VideoPlace& video, const std::string& reason,
                               const std::function<bool()>& is_stopped) {
  VideoScan scan;
  const Result<FileDigest> content = content_of(video, is_stopped);
  if (is_stopped()) return error(StatusCode::Cancelled, "stopped while reading '{}'", video.name);
  if (!content) {
    scan.error = content.error().message();
    return scan;
  }
  scan.content = "sha256:" + content->sha256;
  scan.bytes = content->bytes;
  if (!reason.empty()) scan.error = reason;
  return scan;
}

Result<VideoScan> scan_video(const VideoPlace& video, const std::function<bool()>& is_stopped) {
  HET_ASSIGN(VideoScan scan, scan_content(video, "", is_stopped));
  if (scan.error) return scan;
  const Status parsed = parse_video(video, is_stopped, scan);
  if (parsed.code() == StatusCode::Cancelled) return Failure(parsed);
  if (!parsed.ok()) scan.error = parsed.message();
  std::ranges::sort(scan.timestamps);
  std::ranges::sort(scan.key_frames);
  const auto same = std::ranges::unique(scan.key_frames);
  scan.key_frames.erase(same.begin(), same.end());
  return scan;
}

}  // namespace het::archive
