#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/bench.h"

namespace het {
namespace {

int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

double throughput(const BenchResult& result) {
  if (result.duration_ms <= 0.0) return 0.0;
  return static_cast<double>(result.iterations * result.batch) * 1000.0 / result.duration_ms;
}

std::string setting(const BenchResult& result, const std::string& name) {
  const auto it = result.settings.find(name);
  return it == result.settings.end() ? std::string() : it->second;
}

std::vector<ProfileRow> average_counters(const BenchOptions& options, const BenchResult& result) {
  std::vector<ProfileRow> rows = result.counters;
  const int64_t executions = std::max<int64_t>(1, result.counter_executions);
  for (ProfileRow& row : rows) {
    row.real_us /= executions;
    row.cpu_us /= executions;
  }
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
      {"model", options.model},
      {"device", options.device},
      {"precision", setting(result, "INFERENCE_PRECISION_HINT")},
      {"streams", setting(result, "NUM_STREAMS")},
      {"requests", result.requests},
      {"batch", result.batch},
      {"iterations", result.iterations},
      {"duration_ms", result.duration_ms},
      {"throughput_fps", throughput(result)},
      {"latency_ms",
       {{"median", percentile(l, 50)},
        {"p90", percentile(l, 90)},
        {"p99", percentile(l, 99)},
        {"min", l.empty() ? 0.0 : l.front()},
        {"max", l.empty() ? 0.0 : l.back()}}},
      {"read_ms", result.read_ms},
      {"compile_ms", result.compile_ms},
      {"first_inference_ms", result.first_inference_ms},
      {"rise_bytes", result.rise_bytes},
      {"peak_rss_bytes", peak_rss_bytes()},
      {"properties", result.settings},
  };
  for (const ProfileRow& row : average_counters(options, result)) {
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

}  // namespace

double percentile(const std::vector<double>& sorted, double percent) {
  if (sorted.empty()) return 0.0;
  const double rank = std::ceil(percent / 100.0 * static_cast<double>(sorted.size()));
  const auto index = static_cast<size_t>(std::max(1.0, rank)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

void print_bench(const BenchOptions& options, const BenchResult& result) {
  if (options.json) {
    std::printf("%s\n", to_json(options, result).dump(1).c_str());
    return;
  }
  if (!result.counters.empty()) print_counters(average_counters(options, result));
  const std::vector<double>& l = result.latencies_ms;
  std::printf("[ INFO ] Read model took %.2f ms\n", result.read_ms);
  std::printf("[ INFO ] Compile model took %.2f ms\n", result.compile_ms);
  for (const auto& [name, value] : result.settings) {
    std::printf("[ INFO ]   %s: %s\n", name.c_str(), value.c_str());
  }
  std::printf("[ INFO ] First inference took %.2f ms\n", result.first_inference_ms);
  std::printf("[ INFO ] Execution Devices: %s\n", setting(result, "EXECUTION_DEVICES").c_str());
  std::printf("[ INFO ] Requests:            %d\n", result.requests);
  std::printf("[ INFO ] Count:               %lld iterations\n",
              static_cast<long long>(result.iterations));
  std::printf("[ INFO ] Duration:            %.2f ms\n", result.duration_ms);
  std::printf("[ INFO ] Latency:\n");
  std::printf("[ INFO ]    Median:           %.2f ms\n", percentile(l, 50));
  std::printf("[ INFO ]    90 percentile:    %.2f ms\n", percentile(l, 90));
  std::printf("[ INFO ]    99 percentile:    %.2f ms\n", percentile(l, 99));
  std::printf("[ INFO ]    Min:              %.2f ms\n", l.empty() ? 0.0 : l.front());
  std::printf("[ INFO ]    Max:              %.2f ms\n", l.empty() ? 0.0 : l.back());
  std::printf("[ INFO ] Throughput:          %.2f FPS\n", throughput(result));
}

}  // namespace het
