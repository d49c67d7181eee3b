#pragma once

#include <vector>

#include "serving/launch/instance/pipeline_elements.h"
#include "serving/launch/job.h"
#include "serving/launch/report_writer.h"

namespace het::serving {

/// Plays the job's one stream until its inference elements have passed record_frames frames each,
/// trial_s are over or it ends, without touching a file that it names, and reports a RecordedFrame
/// for each. Frames are all analysed, late or not. Returns an exit code of report.h.
int record_streams(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports);

}  // namespace het::serving
