#pragma once

#include <vector>

#include "inference/base/status.h"
#include "serving/launch/job.h"
#include "serving/launch/report.h"
#include "serving/launch/supervise/child_process.h"

namespace het::serving {

struct TrialOrder {
  Job job;
  ChildPlace place;
};

/// Plays all at the same time, each job for `seconds`, and waits for them. Fails with what an
/// instance says when one does not get that far.
Result<std::vector<TrialResult>> run_trial(std::vector<TrialOrder> orders, double seconds);

/// What is in each stream of the job, in its order. Fails when a pipeline cannot be made; why is
/// on standard error.
Result<std::vector<StreamDescription>> describe_streams(Job job);

/// Frames per second of all together. Fails with InvalidArgument when an instance had too little to
/// do for a measurement.
Result<double> frames_per_s(const std::vector<TrialResult>& results);

}  // namespace het::serving
