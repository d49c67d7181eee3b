#pragma once

#include <vector>

#include "serving/launch/instance/pipeline_elements.h"
#include "serving/launch/job.h"
#include "serving/launch/report_writer.h"

namespace het::serving {

/// Plays the streams for the job's trial_s, counted from when all of them play, without touching a
/// file that they name, and reports what was done and what it cost. Returns an exit code of
/// report.h: kInstanceUnusable where a stream fails or does not play within two minutes.
int try_streams(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports);

}  // namespace het::serving
