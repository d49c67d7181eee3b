#include "tools/sweep.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "tools/bench_session.h"
#include "tools/pareto.h"

namespace het {
namespace {

/// A setting's place in the table: all requests of one compiled model side by side.
struct CompiledSettings {
  std::string streams;
  int64_t batch = 0;
  std::vector<size_t> settings;
};

std::vector<CompiledSettings> combine(const SweepAxes& axes, SweepResult& result) {
  std::vector<CompiledSettings> groups;
  for (const std::string& streams : axes.streams) {
    for (const int64_t batch : axes.batches) {
      CompiledSettings group{streams, batch, {}};
      for (const int requests : axes.requests) {
        group.settings.push_back(result.settings.size());
        result.settings.push_back({streams, requests, batch, {}});
      }
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

/// One round of what shares a compiled model.
Status measure_group(Core& core, const BenchOptions& options, const CompiledSettings& group,
                     SweepResult& result) {
  BenchOptions own = options;
  if (!group.streams.empty()) own.streams = group.streams;
  if (group.batch > 0) {
    own.preparation.properties["BATCH_SIZE"] = std::to_string(group.batch);
  }
  for (const size_t i : group.settings) {
    own.requests = std::max(own.requests, result.settings[i].requests);
  }
  own.api = "async";
  const auto session = BenchSession::create(core, own, options.models.front());
  if (!session) {
    return session.error().with_context(
        fmt::format("with streams={} batch={}", group.streams.empty() ? "default" : group.streams,
                    group.batch > 0 ? std::to_string(group.batch) : "default"));
  }
  const BenchResult& compiled = (*session)->result();
  for (const size_t i : group.settings) {
    SweepSetting& setting = result.settings[i];
    if (setting.requests == 0) setting.requests = compiled.requests;
    if (setting.streams.empty()) {
      const auto streams = compiled.settings.find("NUM_STREAMS");
      setting.streams = streams == compiled.settings.end() ? "?" : streams->second;
    }
    setting.batch = compiled.batch;
    HET_ASSIGN(const Measured run, (*session)->measure(static_cast<size_t>(setting.requests),
                                                       result.round_seconds, options.iterations));
    setting.rounds.push_back(one_round(run, compiled.batch));
  }
  return {};
}

}  // namespace

Result<SweepResult> run_sweep(Core& core, const BenchOptions& options, const SweepAxes& axes) {
  SweepResult result;
  result.round_seconds = options.seconds.value_or(kSettingSeconds) / options.rounds;
  const std::vector<CompiledSettings> groups = combine(axes, result);
  std::fprintf(stderr, "hetero: %zu settings in %d rounds, about %.0f s and the time to compile\n",
               result.settings.size(), options.rounds,
               static_cast<double>(result.settings.size()) * result.round_seconds * options.rounds);
  for (int round = 0; round < options.rounds; ++round) {
    for (const CompiledSettings& group : groups) {
      HET_TRY(measure_group(core, options, group, result));
    }
  }
  if (const auto name = core.get_property(options.device, "FULL_DEVICE_NAME")) {
    result.device_name = *name;
  }
  std::vector<LoadPoint> points;
  for (const SweepSetting& setting : result.settings) {
    points.push_back(
        {latency_spread(setting.rounds).median, throughput_spread(setting.rounds).median});
  }
  result.front = pareto_front(points);
  if (const auto knee = knee_of(points, result.front)) result.knee = static_cast<int>(*knee);
  return result;
}

}  // namespace het
