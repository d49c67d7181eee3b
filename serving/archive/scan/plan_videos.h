#pragma once

#include <functional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"

namespace het::archive {

struct PlanRequest {
  std::vector<std::string> videos;    ///< words
  std::vector<std::string> pipeline;  ///< words with placeholders
  double shard_s = 0;
  double overlap_s = 0;
  size_t threads = 1;  ///< videos that are scanned at once
};

/// How far scanning is: called from one thread at a time.
using ScanProgress = std::function<void(size_t scanned, size_t videos)>;

/// Finds and scans the videos (those that have not changed are known from the folder), and writes
/// the plan. Fails as its parts, with Cancelled when `is_stopped` says so; what was scanned until
/// then is known the next time.
Result<ArchivePlan> plan_videos(const ArchiveFolder& folder, const PlanRequest& request,
                                const ScanProgress& progress,
                                const std::function<bool()>& is_stopped);

}  // namespace het::archive
