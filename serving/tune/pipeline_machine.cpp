#include "serving/tune/pipeline_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <utility>

#include "serving/tune/child_runs.h"
#include "serving/tune/tune_space.h"

namespace het::serving {
namespace {

constexpr size_t kRecordFrames = 90;
/// Of the whole time, for one record of the pipeline as given.
constexpr double kRecordShare = 0.1;
/// Whatever the time limit: a first frame may take that long, and so one that doesn't come in a
/// shorter time says nothing of the pipeline.
constexpr double kLeastRecordS = 2;
/// Shorter ones say nothing.
constexpr double kLeastRunS = 0.1;
/// A model that is compiled, a camera that answers; and what a run of a slow pipeline goes on.
constexpr double kMostStartOfRunS = 150;

std::chrono::steady_clock::duration duration_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(std::min(seconds, 1e8)));
}

Job job_with(const PipelineLine& line, Job::Kind kind) {
  Job job;
  job.kind = kind;
  job.instance = "tune";
  job.streams.push_back({"line", line.words(), 0});
  job.back_off.most = 0;
  job.unpaced = true;
  return job;
}

size_t frames_of(const Recording& recording) {
  size_t most = 0;
  for (const auto& [element, frames] : recording) most = std::max(most, frames.size());
  return most;
}

/// Frames that all elements of a line analyse.
size_t common_interval(const PipelineLine& line) {
  size_t common = 1;
  for (size_t i = 0; i < line.inferences().size(); ++i) {
    const std::string text = line.value(i, "inference-interval").value_or("1");
    size_t interval = 1;
    std::from_chars(text.data(), text.data() + text.size(), interval);
    common = std::lcm(common, std::clamp<size_t>(interval, 1, 1000));
  }
  return common;
}

}  // namespace

PipelineMachine::PipelineMachine(const TuneOptions& options, PipelineLine line,
                                 InstanceOrders orders, std::function<bool()> is_stopped)
    : options_(options),
      line_(std::move(line)),
      orders_(std::move(orders)),
      is_stopped_(std::move(is_stopped)),
      end_(std::chrono::steady_clock::now() + duration_of(options.time_limit_s)) {}

double PipelineMachine::seconds_left() const {
  return std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
}

Result<std::vector<std::vector<Report>>> PipelineMachine::play(
    const std::vector<TrialOrder>& orders, double most_s) {
  return run_children(orders, most_s, [this] { return is_stopped_() || seconds_left() <= 0; });
}

Result<Recording> PipelineMachine::record(const PipelineLine& line, size_t frames, double most_s) {
  Job job = job_with(line, Job::Kind::Record);
  job.record_frames = frames;
  job.trial_s = most_s;
  HET_ASSIGN(const auto reports, play({{std::move(job), {}}}, most_s + kMostStartOfRunS));
  Recording recording;
  for (const Report& report : reports.front()) {
    const auto* frame = std::get_if<RecordedFrame>(&report.content);
    if (frame != nullptr) recording[frame->element].push_back(frame->objects);
  }
  if (frames_of(recording) == 0) {
    return error(StatusCode::InvalidArgument, "no frame left an inference element within {:.0f} s",
                 most_s);
  }
  return recording;
}

Result<GivenResults> PipelineMachine::record_given() {
  GivenResults given;
  const double most_s = std::max(kRecordShare * options_.time_limit_s, kLeastRecordS);
  HET_ASSIGN(given.recording, record(line_, kRecordFrames, most_s));
  if (objects_of(given.recording) == 0) {
    given.why_not = fmt::format(
        "there is no object in {} frames, so nobody can tell whether a setting changes what is "
        "found; give a source with objects",
        frames_of(given.recording));
    return given;
  }
  HET_ASSIGN(const Recording again, record(line_, frames_of(given.recording), most_s));
  const DetectionDifference difference = compare_recordings(given.recording, again);
  if (difference.exceeds(options_.bound)) {
    given.why_not = fmt::format(
        "two runs of the pipeline as given find different things ({}), as those of a camera do, "
        "so nobody can tell whether a setting changes what is found; give a file as source",
        difference.text());
  }
  return given;
}

void PipelineMachine::use(std::vector<TuneSetting> settings, GivenResults given) {
  settings_ = std::move(settings);
  given_ = std::move(given);
}

Result<double> PipelineMachine::measure(const TuneChoice& choice) {
  const TunedPipeline tuned = tuned_pipeline(line_, settings_, choice);
  std::vector<TrialOrder> orders;
  if (tuned.instances > 1) {
    HET_ASSIGN(orders, orders_.orders(tuned.line.words(), tuned.instances));
  } else {
    orders.push_back({job_with(tuned.line, Job::Kind::Trial), {}});
  }
  for (TrialOrder& order : orders) {
    order.job.kind = Job::Kind::Trial;
    order.job.trial_s = options_.seconds;
    order.job.loops = true;
    order.job.unpaced = true;
    order.job.back_off.most = 0;
  }
  HET_ASSIGN(const auto reports, play(orders, options_.seconds + kMostStartOfRunS));
  std::vector<TrialResult> results;
  for (const std::vector<Report>& told : reports) {
    for (const Report& report : told) {
      if (const auto* result = std::get_if<TrialResult>(&report.content))
        results.push_back(*result);
    }
  }
  if (results.size() != orders.size()) {
    return error(StatusCode::Internal, "{} of {} processes told what they measured", results.size(),
                 orders.size());
  }
  double rate = 0;
  for (const TrialResult& result : results) {
    if (result.wall_s < kLeastRunS || result.frames == 0) {
      return error(StatusCode::InvalidArgument,
                   "a run of {:g} s had {} frames in {:.2f} s, which is too little to measure; "
                   "give a longer source or more --seconds",
                   options_.seconds, result.frames, result.wall_s);
    }
    rate += static_cast<double>(result.frames) / result.wall_s;
  }
  return rate;
}

Result<std::string> PipelineMachine::check(const TuneChoice& choice) {
  if (!given_.is_comparable()) return std::string();
  const PipelineLine line = tuned_pipeline(line_, settings_, choice).line;
  if (line == line_) return std::string();
  const size_t frames = frames_of(given_.recording);
  HET_ASSIGN(const Recording found, record(line, frames, kMostStartOfRunS));
  for (const auto& [element, given_frames] : given_.recording) {
    const auto other = found.find(element);
    const size_t count = other == found.end() ? 0 : other->second.size();
    if (count < given_frames.size()) {
      return fmt::format("{} passes {} frames instead of {}", element, count, given_frames.size());
    }
  }
  const size_t step = std::lcm(common_interval(line_), common_interval(line));
  const DetectionDifference difference = compare_recordings(given_.recording, found, step);
  return difference.exceeds(options_.bound) ? difference.text() : std::string();
}

}  // namespace het::serving
