#pragma once

#include <map>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"

namespace het::archive {

/// Makes the keys of a plan's shards: SHA-256 of what an output depends on (the content of the
/// video, the range and its overlap, the words of the pipeline with the content of the files that
/// they name, the version; the video's names where the pipeline writes them). Videos that are the
/// same in all that get keys by their place among each other. Thread-compatible.
class ShardKeys {
 public:
  /// Reads the files that the pipeline names. Fails with NotFound.
  static Result<ShardKeys> create(const std::vector<std::string>& words,
                                  const std::string& version);

  /// Keys for the shards of the plan's video; to be called in the plan's order, once for each.
  void fill(ArchivePlan& plan, size_t video);

 private:
  std::string pipeline_;  ///< digest of words, files and version
  bool writes_video_ = false;
  bool writes_uri_ = false;
  bool writes_name_ = false;
  std::map<std::string, size_t> seen_;  ///< digests of videos -> how many there were
};

/// Whether this program, here and now, would do what the plan's keys say. Fails with
/// InvalidArgument when the version is another one, when a file that the pipeline names has changed
/// or is not here.
Status check_keys(const ArchivePlan& plan);

}  // namespace het::archive
