#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"

namespace het::archive {

/// What lies in outputs/ and is not of the plan.
struct StrayFiles {
  size_t of_other_plans = 0;         ///< shards that are done, with their notes
  std::vector<std::string> unknown;  ///< sorted
};

/// Parts of files that are being written do not count. Fails with NotFound.
Result<StrayFiles> stray_files(const ArchiveFolder& folder, const ArchivePlan& plan);

}  // namespace het::archive
