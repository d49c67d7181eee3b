#pragma once

#include "serving/launch/job.h"
#include "serving/launch/report_writer.h"

namespace het::serving {

/// What a process of `hetero-launch --instance` does: the job, from start to end, in the default
/// main context, with messages on standard error and reports in the writer, which is closed then.
/// Initialises GStreamer, ignores SIGPIPE, takes SIGINT, SIGTERM and SIGHUP. Returns an exit code
/// of report.h.
int run_instance(const Job& job, ReportWriter& reports);

/// The same with the job as JSON at the end of one pipe and reports to another; closes both.
/// Returns kInstanceUnusable for a job that cannot be read.
int run_instance(int job_fd, int report_fd);

}  // namespace het::serving
