#include "serving/tune/child_runs.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>

#include "serving/launch/supervise/instance_process.h"

namespace het::serving {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLookEveryMs = 50;
/// For a child to end by itself.
constexpr double kEndS = 2;

/// A child and what it has told.
struct ChildRun {
  std::vector<Report> reports;
  std::string failure;    ///< of its stream
  std::string last_line;  ///< that it printed
  std::unique_ptr<InstanceProcess> process;

  void take(const Report& report) {
    const auto* failed = std::get_if<StreamFailed>(&report.content);
    if (failed != nullptr && failure.empty()) failure = failed->reason;
    reports.push_back(report);
  }

  std::string why() const {
    if (!failure.empty()) return failure;
    return last_line.empty() ? process->end_text() : last_line;
  }
};

bool wait_some(const std::vector<std::unique_ptr<ChildRun>>& runs) {
  std::vector<InstanceProcess*> running;
  for (const auto& run : runs) {
    if (!run->process->has_ended()) running.push_back(run->process.get());
  }
  if (running.empty()) return false;
  wait_for_processes(running, kLookEveryMs);
  return true;
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void end_all(const std::vector<std::unique_ptr<ChildRun>>& runs) {
  for (const auto& run : runs) run->process->signal(SIGTERM);
  const auto begin = Clock::now();
  while (wait_some(runs) && seconds_since(begin) < kEndS) {
  }
}

}  // namespace

Result<std::vector<std::vector<Report>>> run_children(const std::vector<TrialOrder>& orders,
                                                      double most_s,
                                                      const std::function<bool()>& is_over) {
  std::vector<std::unique_ptr<ChildRun>> runs;
  for (const TrialOrder& order : orders) {
    ChildRun& run = *runs.emplace_back(std::make_unique<ChildRun>());
    auto process = InstanceProcess::start(
        order.job, order.place, "", [&run](const Report& report) { run.take(report); },
        [&run](std::string_view line) {
          if (!line.empty()) run.last_line = line;
        });
    if (!process) {
      runs.pop_back();
      end_all(runs);
      return Failure(process.error());
    }
    run.process = std::move(*process);
  }
  const auto begin = Clock::now();
  while (wait_some(runs)) {
    if (is_over()) {
      end_all(runs);
      return error(StatusCode::Cancelled, "the run was ended before its time");
    }
    if (seconds_since(begin) > most_s) {
      end_all(runs);
      return error(StatusCode::TimedOut, "the pipeline did not end its run within {:.0f} s",
                   most_s);
    }
  }
  std::vector<std::vector<Report>> reports;
  for (const auto& run : runs) {
    if (run->process->exit_status() != kInstanceDone) {
      return error(StatusCode::InvalidArgument, "{}", run->why());
    }
    reports.push_back(std::move(run->reports));
  }
  return reports;
}

}  // namespace het::serving
