#include "serving/launch/command/trial.h"

#include <algorithm>
#include <memory>

#include "serving/launch/supervise/instance_process.h"

namespace het::serving {
namespace {

constexpr int kPollMs = 200;
/// Shorter trials say nothing.
constexpr double kLeastTrialS = 0.2;

void wait_for_all(const std::vector<std::unique_ptr<InstanceProcess>>& processes) {
  std::vector<InstanceProcess*> running;
  for (const auto& process : processes) running.push_back(process.get());
  while (!running.empty()) {
    wait_for_processes(running, kPollMs);
    std::erase_if(running, [](InstanceProcess* process) { return process->has_ended(); });
  }
}

Status check_end(const InstanceProcess& process, const std::string& what) {
  if (process.exit_status() == kInstanceDone) return {};
  return error(StatusCode::InvalidArgument, "{} failed ({}); what it says is above", what,
               process.end_text());
}

}  // namespace

Result<std::vector<TrialResult>> run_trial(std::vector<TrialOrder> orders, double seconds) {
  std::vector<TrialResult> results(orders.size());
  std::vector<std::unique_ptr<InstanceProcess>> processes;
  for (size_t i = 0; i < orders.size(); ++i) {
    Job& job = orders[i].job;
    job.kind = Job::Kind::Trial;
    job.trial_s = seconds;
    HET_ASSIGN(auto process, InstanceProcess::start(
                                 job, orders[i].place, "[trial " + job.instance + "] ",
                                 [&results, i](const Report& report) {
                                   const auto* result = std::get_if<TrialResult>(&report.content);
                                   if (result != nullptr) results[i] = *result;
                                 }));
    processes.push_back(std::move(process));
  }
  wait_for_all(processes);
  for (const auto& process : processes) HET_TRY(check_end(*process, "a trial of the pipelines"));
  return results;
}

Result<std::vector<StreamDescription>> describe_streams(Job job) {
  job.kind = Job::Kind::Describe;
  std::vector<StreamDescription> descriptions;
  std::vector<std::unique_ptr<InstanceProcess>> processes;
  HET_ASSIGN(auto process,
             InstanceProcess::start(job, {}, "", [&descriptions](const Report& report) {
               const auto* description = std::get_if<StreamDescription>(&report.content);
               if (description != nullptr) descriptions.push_back(*description);
             }));
  processes.push_back(std::move(process));
  wait_for_all(processes);
  HET_TRY(check_end(*processes.front(), "making the pipelines"));
  if (descriptions.size() != job.streams.size()) {
    return error(StatusCode::Internal, "{} streams were described, not {}", descriptions.size(),
                 job.streams.size());
  }
  return descriptions;
}

Result<double> frames_per_s(const std::vector<TrialResult>& results) {
  double sum = 0;
  for (const TrialResult& result : results) {
    if (result.wall_s < kLeastTrialS || result.frames == 0) {
      return error(StatusCode::InvalidArgument,
                   "a trial had {} frames in {:.2f} s, which is too little to measure; give a "
                   "longer video, or a number of instances",
                   result.frames, result.wall_s);
    }
    sum += static_cast<double>(result.frames) / result.wall_s;
  }
  return sum;
}

}  // namespace het::serving
