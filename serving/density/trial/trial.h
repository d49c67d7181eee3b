#pragma once

#include "serving/density/trial_order.h"
#include "serving/density/trial_report.h"

namespace het::density {

/// Plays so many copies of the pipeline in this process and measures them. Runs the default main
/// context; initialises GStreamer. What is wrong with the pipeline is the report's error.
TrialReport run_trial(const TrialOrder& order);

/// `hetero-density --trial`: order on standard input, report on standard output, to which nothing
/// else of the process writes. Does not return: elements that do not let go are left behind.
[[noreturn]] void trial_main();

}  // namespace het::density
