#pragma once

#include <optional>
#include <string>

#include "inference/base/status.h"
#include "serving/archive/records/archive_folder.h"
#include "serving/archive/scan/video_scan.h"

namespace het::archive {

/// What tells that a file is still the one that was scanned.
struct FileStamp {
  uint64_t bytes = 0;
  uint64_t mtime_ns = 0;
  uint64_t inode = 0;
  bool operator==(const FileStamp&) const = default;
};
/// Nothing for what is no file or not there.
std::optional<FileStamp> stamp_of(const VideoPlace& video);

/// scans/NAME.json.
struct ScanRecord {
  std::string uri;
  std::optional<FileStamp> stamp;  ///< nothing: it cannot be told, the video is read again
  VideoScan scan;
  double seconds = 0;  ///< that it took, for predictions
  /// How often it was begun without an end: by processes that crashed or were killed. The scan is
  /// empty then.
  uint64_t unfinished = 0;
  bool operator==(const ScanRecord&) const = default;

  std::string to_json() const;
  static Result<ScanRecord> parse(std::string_view text, const std::string& place);
};

/// Nothing where there is none, or none that can be read.
std::optional<ScanRecord> read_scan(const ArchiveFolder& folder, const std::string& uri);
Status write_scan(const ArchiveFolder& folder, const ScanRecord& record);
void remove_scan(const ArchiveFolder& folder, const std::string& uri);

}  // namespace het::archive
