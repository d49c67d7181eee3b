#include "serving/density/results/density_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace het::density {
namespace {

using nlohmann::json;

/// Least, median and most of a value of some trials.
struct Range {
  double least = 0;
  double median = 0;
  double most = 0;
};

template <class Value>
Range range_of(const std::vector<const TrialRecord*>& trials, Value value) {
  std::vector<double> values;
  for (const TrialRecord* trial : trials) values.push_back(value(trial->verdict));
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {values.front(), values[values.size() / 2], values.back()};
}

Range p99_of(const std::vector<const TrialRecord*>& trials) {
  return range_of(trials, [](const Verdict& verdict) { return verdict.worst.p99_ms; });
}

Tally tally_of(const DeviceResult& result, size_t streams) {
  const auto found = result.search.tallies.find(streams);
  return found == result.search.tallies.end() ? Tally() : found->second;
}

/// The last trial that failed with the fewest streams above the result: what the limit is.
const TrialRecord* limiting_trial(const DeviceResult& result) {
  const TrialRecord* found = nullptr;
  for (const TrialRecord& trial : result.trials) {
    if (trial.verdict.passes() || trial.verdict.streams <= result.search.streams) continue;
    if (!found || trial.verdict.streams <= found->verdict.streams) found = &trial;
  }
  // Nothing passed: the trial with the fewest streams.
  if (!found && result.search.streams == 0 && !result.trials.empty()) {
    found = &*std::ranges::min_element(
        result.trials, {}, [](const TrialRecord& trial) { return trial.verdict.streams; });
  }
  return found;
}

/// A tenth of a processor is what an idle system does.
constexpr double kIdleCpus = 0.1;

double mean_other_cpus(const DeviceResult& result) {
  double sum = 0;
  for (const TrialRecord& trial : result.trials) sum += trial.other_cpus;
  return result.trials.empty() ? 0 : sum / static_cast<double>(result.trials.size());
}

std::string device_row(const DeviceResult& result, size_t width) {
  const auto trials = result.with(result.search.streams);
  if (result.search.streams == 0 || trials.empty()) {
    return fmt::format("{:<{}}  {:>7}\n", result.label(), width, 0);
  }
  const auto median = [&](auto value) { return range_of(trials, value).median; };
  const double fps_streams = static_cast<double>(result.search.streams);
  return fmt::format(
      "{:<{}}  {:>7}  {:>6.1f}  {:>6.1f}  {:>6.1f}  {:>6.1f}  {:>8.2f}  {:>6.2f}  {:>10.1f}  "
      "{:>12.2f}  {:>10.0f}\n",
      result.label(), width, result.search.streams,
      median([](const Verdict& v) { return v.worst.p50_ms; }),
      median([](const Verdict& v) { return v.worst.p90_ms; }),
      median([](const Verdict& v) { return v.worst.p99_ms; }),
      median([](const Verdict& v) { return v.worst.most_ms; }),
      median([](const Verdict& v) { return v.rate; }),
      median([](const Verdict& v) { return v.drop * 100; }),
      median([](const Verdict& v) { return v.cpu_ms_per_frame; }),
      median([&](const Verdict& v) { return v.cpus / fps_streams; }),
      median([](const Verdict& v) { return v.memory_mib; }));
}

void add_confidence(std::string& text, const DensityResults& results, const DeviceResult& result) {
  const size_t streams = result.search.streams;
  if (!result.error.empty()) text += fmt::format("  failed: {}\n", result.error);
  if (streams > 0) {
    const Tally own = tally_of(result, streams);
    const Range p99 = p99_of(result.with(streams));
    text += fmt::format("  {} stream{}: {} of {} runs passed, p99 {:.1f} to {:.1f} ms\n", streams,
                        streams == 1 ? "" : "s", own.passes, own.runs(), p99.least, p99.most);
  }
  const Tally above = tally_of(result, streams + 1);
  const TrialRecord* limit = limiting_trial(result);
  if (above.runs() > 0 && streams > 0) {
    text +=
        fmt::format("  {} streams: {} of {} runs failed\n", streams + 1, above.fails, above.runs());
  }
  if (limit) {
    text +=
        fmt::format("  limit: {}, by {} of {} stream{}: {}\n", to_string(limit->verdict.limit),
                    limit->verdict.failed_streams, limit->verdict.streams,
                    limit->verdict.streams == 1 ? "" : "s", limit->verdict.reason(results.goal));
  }
  if (result.search.is_border)
    text += fmt::format("  the border lies between: one stream more passes most runs\n");
  if (result.search.reached_most) text += fmt::format("  no more streams were tried (--most)\n");
  if (result.search.was_stopped)
    text += fmt::format("  stopped before it was confirmed: at least so many\n");
  if (const double others = mean_other_cpus(result); others > kIdleCpus) {
    text += fmt::format(
        "  other processes kept {:.1f} processors busy meanwhile: alone it may carry more\n",
        others);
  }
  if (const auto trials = result.with(streams); !trials.empty() && streams > 0) {
    for (const ElementTime& element : trials.back()->elements) {
      text +=
          fmt::format("  {}: {:.1f} ms a frame on the mean\n", element.element, element.mean_ms);
    }
  }
}

json latencies_json(const Latencies& latencies) {
  return {{"p50_ms", latencies.p50_ms},
          {"p90_ms", latencies.p90_ms},
          {"p99_ms", latencies.p99_ms},
          {"max_ms", latencies.most_ms}};
}

json trial_json(const TrialRecord& trial, const Goal& goal) {
  const Verdict& verdict = trial.verdict;
  json elements = json::object();
  for (const ElementTime& element : trial.elements) elements[element.element] = element.mean_ms;
  return {{"streams", verdict.streams},
          {"passes", verdict.passes()},
          {"failed_streams", verdict.failed_streams},
          {"limit", to_string(verdict.limit)},
          {"reason", verdict.reason(goal)},
          {"all", latencies_json(verdict.all)},
          {"worst", latencies_json(verdict.worst)},
          {"rate", verdict.rate},
          {"drop", verdict.drop},
          {"cpu_ms_per_frame", verdict.cpu_ms_per_frame},
          {"cpus", verdict.cpus},
          {"cpus_per_stream", verdict.cpus / static_cast<double>(verdict.streams)},
          {"memory_mib", verdict.memory_mib},
          {"ended_early", verdict.ended_early},
          {"element_mean_ms", std::move(elements)},
          {"at_s", trial.at_s},
          {"took_s", trial.took_s},
          {"other_cpus", trial.other_cpus}};
}

json device_json(const DeviceResult& result, const Goal& goal) {
  json trials = json::array();
  for (const TrialRecord& trial : result.trials) trials.push_back(trial_json(trial, goal));
  const TrialRecord* limit = limiting_trial(result);
  const Tally own = tally_of(result, result.search.streams);
  const Tally above = tally_of(result, result.search.streams + 1);
  const Range p99 = p99_of(result.with(result.search.streams));
  return {{"device", result.device},
          {"streams", result.search.streams},
          {"confirmed", result.search.is_confirmed},
          {"border", result.search.is_border},
          {"reached_most", result.search.reached_most},
          {"stopped", result.search.was_stopped},
          {"passed_runs", own.passes},
          {"runs", own.runs()},
          {"failed_runs_of_one_more", above.fails},
          {"runs_of_one_more", above.runs()},
          {"p99_ms_of_runs", {p99.least, p99.median, p99.most}},
          {"limit", limit ? to_string(limit->verdict.limit) : "none"},
          {"reason", limit ? limit->verdict.reason(goal) : ""},
          {"error", result.error},
          {"trials", std::move(trials)}};
}

}  // namespace

std::vector<const TrialRecord*> DeviceResult::with(size_t streams) const {
  std::vector<const TrialRecord*> found;
  for (const TrialRecord& trial : trials) {
    if (trial.verdict.streams == streams) found.push_back(&trial);
  }
  return found;
}

std::string results_text(const DensityResults& results) {
  size_t width = 8;
  for (const DeviceResult& result : results.devices) width = std::max(width, result.label().size());
  std::string text = fmt::format(
      "streams that each keep {:g} frames/s with a p99 of at most {:g} ms and at most {:g} % lost, "
      "on {}\n"
      "{:<{}}  streams  p50 ms  p90 ms  p99 ms  max ms  frames/s  lost %  CPU ms/fr.  CPUs/stream  "
      "memory MiB\n",
      results.goal.fps, results.goal.p99_ms, results.goal.drop * 100, results.processor, "device",
      width);
  for (const DeviceResult& result : results.devices) text += device_row(result, width);
  for (const DeviceResult& result : results.devices) {
    text += result.label() + ":\n";
    add_confidence(text, results, result);
  }
  text += fmt::format("latencies of the worst stream, medians of its runs; {:.0f} s in all\n",
                      results.elapsed_s);
  return text;
}

std::string results_json(const DensityResults& results) {
  json devices = json::array();
  for (const DeviceResult& result : results.devices) {
    devices.push_back(device_json(result, results.goal));
  }
  const json value = {{"format", "hetero-density 1"},   {"pipeline", results.line},
                      {"processor", results.processor}, {"fps", results.goal.fps},
                      {"p99_ms", results.goal.p99_ms},  {"drop", results.goal.drop},
                      {"seconds", results.window_s},    {"warmup_s", results.warmup_s},
                      {"confirm", results.confirm},     {"stopped", results.was_stopped},
                      {"elapsed_s", results.elapsed_s}, {"notes", results.notes},
                      {"devices", std::move(devices)}};
  return value.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace het::density
