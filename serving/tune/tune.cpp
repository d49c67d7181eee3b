#include "serving/tune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <utility>

#include "inference/machine/core_count.h"
#include "serving/launch/command/trial.h"
#include "serving/tune/child_runs.h"
#include "serving/tune/instance_orders.h"
#include "serving/tune/machine_devices.h"
#include "serving/tune/pipeline_machine.h"
#include "serving/tune/tune_report.h"
#include "serving/tune/tune_space.h"

namespace het::serving {
namespace {

constexpr double kDescribeS = 60;

volatile std::sig_atomic_t stop_wanted = 0;

bool wants_stop() {
  return stop_wanted != 0;
}

void take_stop_signals() {
  struct sigaction action = {};
  action.sa_handler = [](int) { stop_wanted = 1; };
  for (const int number : {SIGINT, SIGTERM}) sigaction(number, &action, nullptr);
}

void say(const std::string& text) {
  std::fprintf(stderr, "hetero tune: %s\n", text.c_str());
}

Result<StreamDescription> describe_line(const PipelineLine& line) {
  Job job;
  job.kind = Job::Kind::Describe;
  job.instance = "tune";
  job.streams.push_back({"line", line.words(), 0});
  HET_ASSIGN(const auto reports, run_children({{std::move(job), {}}}, kDescribeS, wants_stop));
  for (const Report& report : reports.front()) {
    const auto* description = std::get_if<StreamDescription>(&report.content);
    if (description != nullptr) return *description;
  }
  return error(StatusCode::Internal, "nothing was told of what is in the pipeline");
}

std::string clock_text(double seconds) {
  const long whole = std::max(0L, std::lround(seconds));
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

/// Lines on standard error: what is tried, the best so far, the time.
class ProgressLines {
 public:
  ProgressLines(const PipelineMachine& machine, const std::vector<TuneSetting>& settings)
      : machine_(machine), settings_(settings) {}

  TuneListener listener() {
    return {[this](const TuneAttempt& attempt) { begins(attempt); },
            [this](const TuneAttempt& attempt) { ends(attempt); },
            [this] { say_with_time("the best beside the pipeline as given"); }};
  }

 private:
  void say_with_time(const std::string& text) const {
    say(fmt::format("[{} left] {}", clock_text(machine_.seconds_left()), text));
  }
  void begins(const TuneAttempt& attempt) {
    say_with_time(fmt::format("round {}: {} ...; best so far {:.2f}", attempt.round,
                              attempt_text(settings_, attempt), best_));
  }
  void ends(const TuneAttempt& attempt) {
    if (attempt.decision == TuneDecision::Taken) best_ *= attempt.ratio->median;
    say(fmt::format("  {}{}", attempt.ratio ? ratio_text(*attempt.ratio) + ": " : "",
                    decision_text(attempt)));
  }

  const PipelineMachine& machine_;
  const std::vector<TuneSetting>& settings_;
  double best_ = 1;  ///< by the ratios of what was taken
};

std::string command_of(const TunedPipeline& tuned) {
  if (tuned.instances == 1) return tuned.line.command("gst-launch-1.0");
  return tuned.line.command(fmt::format("hetero launch --instances {} --", tuned.instances));
}

Status write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.flush();
  if (!file) {
    return error(StatusCode::NotFound, "cannot write the result to '{}'; is there such a folder?",
                 path);
  }
  return {};
}

Status check_json_file(const std::string& path) {
  if (path.empty()) return {};
  std::ofstream file(path, std::ios::binary | std::ios::app);
  if (file) return {};
  return error(StatusCode::InvalidArgument,
               "--json: cannot write '{}'; name a file in a folder that may be written", path);
}

std::string given_text(const GivenResults& given, double bound) {
  if (!given.is_comparable()) {
    return given.why_not + "; only settings that do not change results are tried";
  }
  size_t frames = 0;
  for (const auto& [element, found] : given.recording) frames = std::max(frames, found.size());
  return fmt::format("{} objects in {} frames; what changes them by more than {:g} is refused",
                     objects_of(given.recording), frames, bound);
}

Result<TuneSpaceRequest> space_request(const TuneOptions& options, const InstanceOrders& orders,
                                       bool is_comparable) {
  TuneSpaceRequest request;
  request.devices = machine_devices();
  request.processors = usable_cores();
  request.instance_counts = orders.counts();
  request.only = options.only;
  request.allow_interval = options.allow_interval;
  request.keeps_results = !is_comparable;
  return request;
}

/// No fault of the command line's.
Status does_not_play(const Status& status) {
  return Status(StatusCode::Internal,
                fmt::format("the pipeline as given does not play: {}", status.message()));
}

Status tell(const TuneOptions& options, const TuneReport& report) {
  // The line alone on standard output, for scripts.
  std::fflush(stdout);
  std::fputs(report_text(report).c_str(), stderr);
  std::fflush(stderr);
  std::printf("%s\n", report.best_line.c_str());
  std::fflush(stdout);
  if (options.json_file.empty()) return {};
  return write_file(options.json_file, report_json(report));
}

/// The end came while the pipeline as given was recorded.
Status nothing_tried(const TuneOptions& options, const PipelineLine& line) {
  if (!wants_stop()) {
    return error(StatusCode::TimedOut,
                 "the time limit of {:g} s was over before the pipeline as given had played twice; "
                 "give more",
                 options.time_limit_s);
  }
  TuneReport report;
  report.given_line = report.best_line = line.command("gst-launch-1.0");
  report.not_compared = "there was no time for it";
  report.was_stopped = true;
  return tell(options, report);
}

}  // namespace

Status tune(const TuneOptions& options) {
  take_stop_signals();
  HET_TRY(check_json_file(options.json_file));
  const PipelineLine line(options.line);

  // 1. What is in the pipeline, and 2. what it finds.
  HET_ASSIGN(StreamDescription description, describe_line(line));
  if (line.inferences().empty()) {
    return error(StatusCode::InvalidArgument,
                 "there is no heterodetect, heteroclassify or heteroinference in the pipeline, so "
                 "there is nothing to tune");
  }
  HET_ASSIGN(InstanceOrders orders, InstanceOrders::of_machine(std::move(description)));
  PipelineMachine machine(options, line, orders, wants_stop);
  auto recorded = machine.record_given();
  if (!recorded && recorded.error().code() == StatusCode::Cancelled) {
    return nothing_tried(options, line);
  }
  if (!recorded) return does_not_play(recorded.error());
  GivenResults& given = *recorded;
  say(given_text(given, options.bound));

  // 3. The search, and 4. what came out.
  HET_ASSIGN(const TuneSpaceRequest request, space_request(options, orders, given.is_comparable()));
  TuneReport report;
  report.settings = tune_space(line, request);
  report.not_compared = given.why_not;
  report.bound = options.bound;
  for (const auto& [element, frames] : given.recording) {
    report.compared_frames = std::max(report.compared_frames, frames.size());
  }
  report.compared_objects = objects_of(given.recording);
  machine.use(report.settings, std::move(given));
  ProgressLines progress(machine, report.settings);
  auto result = search_settings(report.settings, machine, progress.listener());
  if (!result) return does_not_play(result.error());
  report.result = std::move(*result);
  report.given_line = line.command("gst-launch-1.0");
  report.best_line = command_of(tuned_pipeline(line, report.settings, report.result.best));
  report.seconds = machine.seconds_used();
  report.was_stopped = wants_stop();
  HET_TRY(tell(options, report));
  if (report.result.failure.empty()) return {};
  return error(StatusCode::Internal,
               "a pipeline that had played before failed, so what is told above is of the runs "
               "before that: {}",
               report.result.failure);
}

}  // namespace het::serving
