#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "inference/base/new_file.h"
#include "tools/bench_json.h"

namespace het {
namespace {

int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

double total_throughput(const BenchResult& result) {
  if (result.duration_ms <= 0.0) return 0.0;
  return static_cast<double>(result.iterations * result.batch) * 1000.0 / result.duration_ms;
}

struct GeometricMeans {
  double latency_ms = 0.0;
  double throughput = 0.0;
};

GeometricMeans geometric_means(const std::vector<BenchResult>& results) {
  std::vector<double> latencies;
  std::vector<double> throughputs;
  for (const BenchResult& result : results) {
    latencies.push_back(percentile(result.latencies_ms, 50));
    throughputs.push_back(total_throughput(result));
  }
  return {geometric_mean(latencies), geometric_mean(throughputs)};
}

std::string setting(const BenchResult& result, const std::string& name) {
  const auto it = result.settings.find(name);
  return it == result.settings.end() ? std::string() : it->second;
}

std::vector<ProfileRow> sorted_counters(const BenchOptions& options, const BenchResult& result) {
  std::vector<ProfileRow> rows = average_counters(result);
  if (options.counters_sort == "sort" || options.counters_sort == "simple_sort") {
    std::stable_sort(rows.begin(), rows.end(), [](const ProfileRow& a, const ProfileRow& b) {
      return a.real_us > b.real_us;
    });
  }
  if (options.counters_sort == "simple_sort") {
    std::erase_if(rows, [](const ProfileRow& r) { return r.status != ProfileStatus::Executed; });
  }
  return rows;
}

/// Rows of split models in the shape that tools for OpenVINO's HETERO read, in microseconds.
void print_subgraph_row(const ProfileRow& row) {
  std::printf("%s: %s layerType: %s realTime: %lld cpu: %lld execType: %s\n", row.node_name.c_str(),
              std::string(to_string(row.status)).c_str(), row.layer_type.c_str(),
              static_cast<long long>(row.real_us), static_cast<long long>(row.cpu_us),
              row.exec_type.c_str());
}

void print_counters(const std::vector<ProfileRow>& rows) {
  int64_t total_us = 0;
  for (const ProfileRow& row : rows) {
    total_us += row.real_us;
    if (row.node_name.starts_with("subgraph")) {
      print_subgraph_row(row);
      continue;
    }
    std::printf(
        "%-40s %-14s layerType: %-20s execType: %-28s realTime (ms): %8.3f cpuTime (ms): "
        "%8.3f %s %s %lld bytes\n",
        row.node_name.c_str(), std::string(to_string(row.status)).c_str(), row.layer_type.c_str(),
        row.exec_type.c_str(), static_cast<double>(row.real_us) / 1000.0,
        static_cast<double>(row.cpu_us) / 1000.0, row.type.c_str(), row.layout.c_str(),
        static_cast<long long>(row.bytes));
  }
  std::printf("Total time: %lld microseconds\n", static_cast<long long>(total_us));
}

nlohmann::json to_json(const BenchOptions& options, const BenchResult& result) {
  const std::vector<double>& l = result.latencies_ms;
  nlohmann::json json = {
      {"model", result.model},
      {"device", options.device},
      {"precision", setting(result, "INFERENCE_PRECISION_HINT")},
      {"streams", setting(result, "NUM_STREAMS")},
      {"requests", result.requests},
      {"batch", result.batch},
      {"iterations", result.iterations},
      {"duration_ms", result.duration_ms},
      {"throughput_fps", total_throughput(result)},
      {"latency_ms",
       {{"median", percentile(l, 50)},
        {"p90", percentile(l, 90)},
        {"p99", percentile(l, 99)},
        {"min", l.empty() ? 0.0 : l.front()},
        {"max", l.empty() ? 0.0 : l.back()}}},
      {"rounds", rounds_json(result.rounds)},
      {"spread",
       {{"latency_ms", spread_json(latency_spread(result.rounds))},
        {"throughput_fps", spread_json(throughput_spread(result.rounds))}}},
      {"read_ms", result.read_ms},
      {"compile_ms", result.compile_ms},
      {"first_inference_ms", result.first_inference_ms},
      {"rise_bytes", result.rise_bytes},
      {"peak_rss_bytes", peak_rss_bytes()},
      {"properties", result.settings},
  };
  for (const ProfileRow& row : sorted_counters(options, result)) {
    json["counters"].push_back({{"node", row.node_name},
                                {"status", std::string(to_string(row.status))},
                                {"layer_type", row.layer_type},
                                {"exec_type", row.exec_type},
                                {"type", row.type},
                                {"layout", row.layout},
                                {"bytes", row.bytes},
                                {"real_us", row.real_us},
                                {"cpu_us", row.cpu_us}});
  }
  return json;
}

/// Over the models, round by round.
std::vector<BenchRound> mean_rounds(const std::vector<BenchResult>& results) {
  size_t count = results.front().rounds.size();
  for (const BenchResult& result : results) count = std::min(count, result.rounds.size());
  std::vector<BenchRound> rounds;
  for (size_t i = 0; i < count; ++i) {
    std::vector<double> latencies;
    std::vector<double> throughputs;
    for (const BenchResult& result : results) {
      latencies.push_back(result.rounds[i].latency_ms);
      throughputs.push_back(result.rounds[i].throughput);
    }
    rounds.push_back({geometric_mean(latencies), geometric_mean(throughputs)});
  }
  return rounds;
}

nlohmann::json to_json(const BenchOptions& options, const std::vector<BenchResult>& results) {
  if (results.size() == 1) return to_json(options, results.front());
  nlohmann::json json = {{"models", nlohmann::json::array()}};
  for (const BenchResult& result : results) json["models"].push_back(to_json(options, result));
  const GeometricMeans means = geometric_means(results);
  const std::vector<BenchRound> rounds = mean_rounds(results);
  json["geometric_mean"] = {{"latency_ms", means.latency_ms},
                            {"throughput_fps", means.throughput},
                            {"spread",
                             {{"latency_ms", spread_json(latency_spread(rounds))},
                              {"throughput_fps", spread_json(throughput_spread(rounds))}}}};
  return json;
}

/// " [least most of 5 rounds]"; empty where nothing spreads.
std::string brackets(const Spread& spread, size_t rounds) {
  if (rounds < 2) return {};
  return fmt::format(" [{:.2f} {:.2f} of {} rounds]", spread.least, spread.most, rounds);
}

void print_result(const BenchOptions& options, const BenchResult& result) {
  if (!result.counters.empty()) print_counters(sorted_counters(options, result));
  const std::vector<double>& l = result.latencies_ms;
  if (options.models.size() > 1) std::printf("[ INFO ] Model %s\n", result.model.c_str());
  std::printf("[ INFO ] Read model took %.2f ms\n", result.read_ms);
  std::printf("[ INFO ] Compile model took %.2f ms\n", result.compile_ms);
  for (const auto& [name, value] : result.settings) {
    std::printf("[ INFO ]   %s: %s\n", name.c_str(), value.c_str());
  }
  const size_t rounds = result.rounds.size();
  std::printf("[ INFO ] First inference took %.2f ms\n", result.first_inference_ms);
  std::printf("[ INFO ] Execution Devices: %s\n", setting(result, "EXECUTION_DEVICES").c_str());
  std::printf("[ INFO ] Requests:            %d\n", result.requests);
  std::printf("[ INFO ] Count:               %lld iterations\n",
              static_cast<long long>(result.iterations));
  std::printf("[ INFO ] Duration:            %.2f ms\n", result.duration_ms);
  std::printf("[ INFO ] Latency:\n");
  std::printf("[ INFO ]    Median:           %.2f ms%s\n", percentile(l, 50),
              brackets(latency_spread(result.rounds), rounds).c_str());
  std::printf("[ INFO ]    90 percentile:    %.2f ms\n", percentile(l, 90));
  std::printf("[ INFO ]    99 percentile:    %.2f ms\n", percentile(l, 99));
  std::printf("[ INFO ]    Min:              %.2f ms\n", l.empty() ? 0.0 : l.front());
  std::printf("[ INFO ]    Max:              %.2f ms\n", l.empty() ? 0.0 : l.back());
  std::printf("[ INFO ] Throughput:          %.2f FPS%s\n", total_throughput(result),
              brackets(throughput_spread(result.rounds), rounds).c_str());
}

void print_means(const std::vector<BenchResult>& results) {
  const GeometricMeans means = geometric_means(results);
  const std::vector<BenchRound> rounds = mean_rounds(results);
  std::printf("[ INFO ] Geometric means of %zu models:\n", results.size());
  std::printf("[ INFO ]    Median latency:   %.2f ms%s\n", means.latency_ms,
              brackets(latency_spread(rounds), rounds.size()).c_str());
  std::printf("[ INFO ]    Throughput:       %.2f FPS%s\n", means.throughput,
              brackets(throughput_spread(rounds), rounds.size()).c_str());
}

}  // namespace

nlohmann::json spread_json(const Spread& spread) {
  return {{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
}

nlohmann::json rounds_json(const std::vector<BenchRound>& rounds) {
  nlohmann::json list = nlohmann::json::array();
  for (const BenchRound& round : rounds) {
    list.push_back({{"latency_ms", round.latency_ms}, {"throughput_fps", round.throughput}});
  }
  return list;
}

std::vector<ProfileRow> average_counters(const BenchResult& result) {
  std::vector<ProfileRow> rows = result.counters;
  const int64_t executions = std::max<int64_t>(1, result.counter_executions);
  for (ProfileRow& row : rows) {
    row.real_us /= executions;
    row.cpu_us /= executions;
  }
  return rows;
}

Status print_json(const BenchOptions& options, const nlohmann::json& json) {
  const std::string text = json.dump(1) + "\n";
  if (options.json) std::fputs(text.c_str(), stdout);
  if (options.report.empty()) return {};
  return write_new_file(options.report, text);
}

Status print_bench(const BenchOptions& options, const std::vector<BenchResult>& results) {
  HET_TRY(print_json(options, to_json(options, results)));
  if (options.json) return {};
  for (const BenchResult& result : results) print_result(options, result);
  if (results.size() > 1) print_means(results);
  return {};
}

}  // namespace het
