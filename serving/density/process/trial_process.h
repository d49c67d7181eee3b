#pragma once

#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/density/trial_order.h"
#include "serving/density/trial_report.h"

namespace het::density {

/// Ctrl-C and SIGTERM, while one of these lives: the trial that runs ends, and no further begins.
class StopFlag {
 public:
  StopFlag();
  ~StopFlag();
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;
  static bool is_set();
};

/// Runs one trial in a process of its own, in a process group that Ctrl-C does not reach: `program`
/// with its arguments, or this program's --trial where it is empty. Its standard error is this
/// one's. Nothing where it was stopped or `limit_s` (of the monotonic clock) came. Fails with what
/// the trial says is wrong, with what ended it, or when it says nothing for far too long.
Result<std::optional<TrialReport>> run_trial_process(const std::vector<std::string>& program,
                                                     const TrialOrder& order, double limit_s);

}  // namespace het::density
