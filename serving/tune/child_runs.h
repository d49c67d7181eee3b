#pragma once

#include <functional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/command/trial.h"

namespace het::serving {

/// Plays all jobs at the same time and waits for them. Their lines are not printed: the first
/// failure that one tells is the message. Ends them with Cancelled when `is_over` says so, and with
/// TimedOut after `most_s`.
Result<std::vector<std::vector<Report>>> run_children(const std::vector<TrialOrder>& orders,
                                                      double most_s,
                                                      const std::function<bool()>& is_over);

}  // namespace het::serving
