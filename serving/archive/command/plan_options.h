#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/scan/plan_videos.h"

namespace het::archive {

/// What `plan` and `run` have in common.
struct PlanOptions {
  std::string folder;
  std::vector<std::string> videos;
  std::vector<std::string> pipeline;
  std::string shard = "whole";
  double overlap_s = -1;  ///< below 0: as the pipeline needs it
  size_t scans = 0;       ///< 0: as many as this process has processors

  /// The words of `hetero archive plan` that say the same.
  std::vector<std::string> words() const;
};

/// All but `pipeline`.
void add_plan_options(CLI::App& app, PlanOptions& options);
/// Fails with InvalidArgument.
Result<PlanRequest> plan_request(const PlanOptions& options);
/// Plans, with a line on standard error now and then and one for what was planned. Ctrl-C and
/// SIGTERM end it with Cancelled.
Result<ArchivePlan> make_plan(const ArchiveFolder& folder, const PlanOptions& options);

}  // namespace het::archive
