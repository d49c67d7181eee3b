#pragma once

#include <functional>
#include <vector>

#include "serving/launch/instance/pipeline_elements.h"
#include "serving/launch/job.h"
#include "serving/launch/report_writer.h"

namespace het::serving {

/// Does a job of kind Record, of which whoever has a program with such jobs knows how: returns an
/// exit code.
using RecordStreams =
    std::function<int(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports)>;

/// What a process of `hetero-launch --instance` does: the job, from start to end, in the default
/// main context, with messages on standard error and reports in the writer, which is closed then.
/// Initialises GStreamer, ignores SIGPIPE, takes SIGINT, SIGTERM and SIGHUP. Returns an exit code
/// of report.h.
int run_instance(const Job& job, ReportWriter& reports, const RecordStreams& record = nullptr);

/// The same by the arguments of `--instance JOB_FD REPORT_FD`: the job as JSON from one descriptor,
/// to its end, reports to another; closes both. Returns kInstanceUnusable for descriptors that are
/// none and a job that cannot be read.
int instance_main(const char* job_fd, const char* report_fd, const RecordStreams& record = nullptr);

}  // namespace het::serving
