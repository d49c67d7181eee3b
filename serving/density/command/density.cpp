#include "serving/density/command/density.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>
#include <utility>

#include "serving/density/command/other_load.h"
#include "serving/density/command/processor_name.h"
#include "serving/density/command/progress_line.h"
#include "serving/density/process/trial_process.h"
#include "serving/density/results/density_chart.h"
#include "serving/density/results/density_results.h"
#include "serving/launch/instance/process_time.h"

namespace het::density {
namespace {

constexpr int kExitCarried = 0;
constexpr int kExitNone = 1;
constexpr int kExitStopped = 130;
/// Runs of a trial that others disturb.
constexpr int kMostAgain = 5;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

void say(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(stderr);
}

class DensityRun {
 public:
  explicit DensityRun(const DensityOptions& options)
      : options_(options), begin_s_(serving::wall_time_s()) {
    limit_s_ = options.time_limit_s > 0 ? begin_s_ + options.time_limit_s
                                        : std::numeric_limits<double>::infinity();
    results_.goal = options.goal;
    results_.window_s = options.window_s;
    results_.warmup_s = options.warmup_s;
    results_.confirm = options.search.confirm;
    results_.line = joined(options.line);
    results_.processor = processor_name();
  }

  Result<DensityResults> run() {
    std::vector<std::string> devices = options_.devices;
    if (devices.empty()) devices.emplace_back();
    for (const std::string& device : devices) {
      if (is_over()) break;
      HET_TRY(search(device));
    }
    results_.was_stopped = StopFlag::is_set();
    results_.elapsed_s = elapsed_s();
    return std::move(results_);
  }

 private:
  double elapsed_s() const { return serving::wall_time_s() - begin_s_; }
  bool is_over() const { return StopFlag::is_set() || serving::wall_time_s() >= limit_s_; }

  /// What is wrong with the pipeline itself ends everything; with one device, only its search.
  Status search(const std::string& device) {
    DeviceResult& result = results_.devices.emplace_back();
    result.device = device;
    auto found = search_streams(options_.search, [&](size_t streams, size_t left) {
      return try_streams(result, streams, left);
    });
    if (found) {
      result.search = std::move(*found);
      return {};
    }
    const Status& status = found.error();
    // Where it worked before, what was found counts.
    const bool is_first = result.trials.empty();
    if (is_first && options_.devices.size() < 2) return status;
    result.error = status.message();
    result.search = search_so_far(result);
    say(fmt::format("{}: {}", result.label(), result.error));
    return {};
  }

  static SearchResult search_so_far(const DeviceResult& result) {
    SearchResult search;
    for (const TrialRecord& trial : result.trials) {
      Tally& tally = search.tallies[trial.verdict.streams];
      ++(trial.verdict.passes() ? tally.passes : tally.fails);
    }
    for (const auto& [streams, tally] : search.tallies) {
      if (tally.passes > tally.fails) search.streams = std::max(search.streams, streams);
    }
    search.was_stopped = true;
    return search;
  }

  TrialOrder order(const std::string& device, size_t streams) const {
    TrialOrder order;
    order.streams = streams;
    order.fps = options_.goal.fps;
    order.warmup_s = options_.warmup_s;
    order.window_s = options_.window_s;
    order.lost_after_s = options_.goal.lost_after_s();
    order.hopeless_s = options_.goal.hopeless_s();
    order.device = device;
    order.sink = options_.sink;
    if (!options_.is_program) order.pipeline = options_.line;
    return order;
  }

  /// Nothing where the time is over.
  Result<std::optional<TrialRecord>> run_trial(const std::string& device, size_t streams) {
    if (is_over()) return std::optional<TrialRecord>();
    const double at_s = elapsed_s();
    const OtherLoad others;
    HET_ASSIGN(const std::optional<TrialReport> report,
               run_trial_process(options_.is_program ? options_.line : std::vector<std::string>(),
                                 order(device, streams), limit_s_));
    if (!report) return std::optional<TrialRecord>();
    TrialRecord record;
    record.verdict = judge(*report, options_.goal);
    record.elements = report->elements;
    record.at_s = at_s;
    record.took_s = elapsed_s() - at_s;
    record.other_cpus = others.cpus();
    take_notes(report->notes);
    remaining_.add(record.took_s);
    return std::optional<TrialRecord>(std::move(record));
  }

  /// With its last run where others disturbed all of them.
  Result<std::optional<TrialRecord>> run_undisturbed(const std::string& device, size_t streams) {
    for (int again = kMostAgain;; --again) {
      HET_ASSIGN(std::optional<TrialRecord> record, run_trial(device, streams));
      if (!record || record->verdict.passes() || options_.most_other_cpus <= 0 ||
          record->other_cpus <= options_.most_other_cpus || again == 0) {
        return record;
      }
      say(fmt::format("{} streams failed while others kept {:.2f} processors busy: again", streams,
                      record->other_cpus));
    }
  }

  Result<std::optional<bool>> try_streams(DeviceResult& result, size_t streams, size_t left) {
    HET_ASSIGN(std::optional<TrialRecord> found, run_undisturbed(result.device, streams));
    if (!found) return std::optional<bool>();
    TrialRecord& record = *found;
    std::string line = trial_line(result.label(), record.verdict, options_.goal);
    line += fmt::format(" ({} elapsed, about {} left", clock_text(elapsed_s()),
                        clock_text(remaining_.of(left)));
    const size_t searches = options_.devices.size();
    const size_t more = searches > results_.devices.size() ? searches - results_.devices.size() : 0;
    if (more > 0) line += fmt::format(" and {} more device{}", more, more == 1 ? "" : "s");
    say(line + ")");
    const bool passes = record.verdict.passes();
    result.trials.push_back(std::move(record));
    return std::optional<bool>(passes);
  }

  void take_notes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
      if (std::ranges::find(results_.notes, note) != results_.notes.end()) continue;
      say("note: " + note);
      results_.notes.push_back(note);
    }
  }

  const DensityOptions& options_;
  const double begin_s_;
  double limit_s_;
  DensityResults results_;
  RemainingTime remaining_;
};

Status write_text(const std::string& path, const std::string& text) {
  errno = 0;
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (file) return {};
  return error(StatusCode::Internal, "cannot write {}: {}", path,
               errno != 0 ? std::strerror(errno) : "the device does not say why");
}

/// Before minutes of measuring, not after them.
Status check_writable(const std::string& path) {
  if (path.empty()) return {};
  errno = 0;
  const std::ofstream file(path, std::ios::binary | std::ios::app);
  if (file) return {};
  return error(StatusCode::InvalidArgument, "cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace

Result<int> measure_density(const DensityOptions& options) {
  HET_TRY(check_writable(options.json_file));
  HET_TRY(check_writable(options.chart_file));
  const StopFlag stop_flag;
  HET_ASSIGN(const DensityResults results, DensityRun(options).run());
  std::fputs(results_text(results).c_str(), stdout);
  std::fflush(stdout);
  if (!options.json_file.empty()) HET_TRY(write_text(options.json_file, results_json(results)));
  if (!options.chart_file.empty()) HET_TRY(draw_density_chart(results, options.chart_file));
  if (results.was_stopped) return kExitStopped;
  const bool all_carry = std::ranges::all_of(results.devices, [](const DeviceResult& result) {
    return result.search.streams > 0 && result.error.empty();
  });
  return all_carry ? kExitCarried : kExitNone;
}

}  // namespace het::density
