#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "inference/base/new_file.h"
#include "tools/bench_json.h"
#include "tools/sweep.h"
#include "tools/sweep_chart.h"

namespace het {
namespace {

bool is_on_front(const SweepResult& result, size_t setting) {
  return std::ranges::find(result.front, setting) != result.front.end();
}

nlohmann::json sweep_json(const BenchOptions& options, const SweepResult& result) {
  nlohmann::json json = {{"model", options.models.front()},
                         {"device", options.device},
                         {"full_device_name", result.device_name},
                         {"round_seconds", result.round_seconds},
                         {"sweep", nlohmann::json::array()}};
  for (size_t i = 0; i < result.settings.size(); ++i) {
    const SweepSetting& setting = result.settings[i];
    json["sweep"].push_back({{"streams", setting.streams},
                             {"requests", setting.requests},
                             {"batch", setting.batch},
                             {"latency_ms", spread_json(latency_spread(setting.rounds))},
                             {"throughput_fps", spread_json(throughput_spread(setting.rounds))},
                             {"rounds", rounds_json(setting.rounds)},
                             {"is_on_front", is_on_front(result, i)}});
  }
  json["knee"] = result.knee < 0 ? nlohmann::json() : json["sweep"][result.knee];
  return json;
}

void print_table(const SweepResult& result) {
  std::printf("%7s %8s %6s  %28s  %30s\n", "streams", "requests", "batch",
              "latency, median ms [rounds]", "throughput, items/s [rounds]");
  for (size_t i = 0; i < result.settings.size(); ++i) {
    const SweepSetting& setting = result.settings[i];
    const Spread latency = latency_spread(setting.rounds);
    const Spread throughput = throughput_spread(setting.rounds);
    std::printf(
        "%7s %8d %6lld  %28s  %30s%s%s\n", setting.streams.c_str(), setting.requests,
        static_cast<long long>(setting.batch),
        fmt::format("{:.2f} [{:.2f} {:.2f}]", latency.median, latency.least, latency.most).c_str(),
        fmt::format("{:.1f} [{:.1f} {:.1f}]", throughput.median, throughput.least, throughput.most)
            .c_str(),
        is_on_front(result, i) ? "  front" : "",
        static_cast<int>(i) == result.knee ? ", knee" : "");
  }
  std::printf("front: no other setting has both less latency and more throughput\n");
  if (result.knee < 0) {
    std::printf("no knee: the front has %zu points%s\n", result.front.size(),
                result.front.size() < 3 ? ", it takes three" : " and does not bend");
  } else {
    std::printf("knee: %s\n", describe(result.settings[static_cast<size_t>(result.knee)]).c_str());
  }
}

}  // namespace

Status print_sweep(const BenchOptions& options, const SweepResult& result) {
  HET_TRY(print_json(options, sweep_json(options, result)));
  if (!options.json) print_table(result);
  if (options.chart.empty()) return {};
  return write_new_file(options.chart, sweep_chart(options, result));
}

}  // namespace het
