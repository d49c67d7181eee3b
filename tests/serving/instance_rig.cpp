#include "instance_rig.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "serving/launch/instance/instance.h"

namespace het::serving_test {

using namespace serving;

std::vector<std::string> InstanceOutcome::history(const std::string& stream) const {
  std::vector<std::string> told;
  for (const Report& report : reports) {
    if (const auto* plays = std::get_if<StreamPlays>(&report.content)) {
      if (plays->stream == stream) told.push_back(fmt::format("plays {}", plays->run));
    } else if (const auto* failed = std::get_if<StreamFailed>(&report.content)) {
      if (failed->stream != stream) continue;
      told.push_back(failed->retry_in_s < 0 ? "failed for good"
                                            : fmt::format("failed {:g}", failed->retry_in_s));
    } else if (const auto* ended = std::get_if<StreamEnded>(&report.content)) {
      if (ended->stream == stream) told.emplace_back("ended");
    }
  }
  return told;
}

InstanceOutcome run_job(const Job& job, const std::function<void(const Report&)>& on_report,
                        const RecordStreams& record) {
  InstanceOutcome outcome;
  int ends[2];
  if (pipe(ends) != 0) return outcome;
  std::thread reader([&] {
    std::string text;
    char part[4096];
    for (ssize_t count = 0; (count = read(ends[0], part, sizeof part)) > 0;) {
      text.append(part, static_cast<size_t>(count));
      for (size_t end = 0; (end = text.find('\n')) != std::string::npos; text.erase(0, end + 1)) {
        const auto report = Report::parse(text.substr(0, end));
        if (!report) {
          ADD_FAILURE() << report.error().message();
          continue;
        }
        outcome.reports.push_back(*report);
        if (on_report) on_report(*report);
      }
    }
    EXPECT_EQ(text, "");
  });
  testing::internal::CaptureStderr();
  {
    ReportWriter reports(ends[1]);
    outcome.code = run_instance(job, reports, record);
  }
  outcome.messages = testing::internal::GetCapturedStderr();
  reader.join();
  close(ends[0]);
  return outcome;
}

Job job_of(std::vector<std::string> pipelines, Job::Kind kind) {
  Job job;
  job.kind = kind;
  job.instance = "test";
  for (std::string& pipeline : pipelines) {
    job.streams.push_back({fmt::format("s{}", job.streams.size() + 1), {std::move(pipeline)}});
  }
  job.back_off = {.first_s = 0.05, .longest_s = 0.1, .stable_s = 60, .most = 2};
  job.stop_timeout_s = 5;
  job.trial_s = 1;
  return job;
}

std::function<void(const Report&)> signal_at_play(int number) {
  return [number](const Report& report) {
    const auto* plays = std::get_if<StreamPlays>(&report.content);
    if (plays && plays->stream == "s1") kill(getpid(), number);
  };
}

}  // namespace het::serving_test
