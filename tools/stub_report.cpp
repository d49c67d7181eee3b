#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "tools/bench_json.h"
#include "tools/stub_gain.h"

namespace het {
namespace {

constexpr size_t kShownLines = 8;

double ms(int64_t us) {
  return static_cast<double>(us) / 1000.0;
}

double share_of(const StubPart& part, int64_t all_us) {
  return all_us > 0 ? static_cast<double>(part.stubbed_us) / static_cast<double>(all_us) : 0.0;
}

/// All parts as one.
StubPart sum_of(const StubGain& gain) {
  StubPart sum;
  for (const StubPart& part : gain.parts) {
    sum.rows += part.rows;
    sum.stubbed_us += part.stubbed_us;
    sum.all_us += part.all_us;
  }
  return sum;
}

nlohmann::json measured_json(const std::vector<BenchRound>& rounds) {
  return {{"latency_ms", spread_json(latency_spread(rounds))},
          {"throughput_fps", spread_json(throughput_spread(rounds))},
          {"rounds", rounds_json(rounds)}};
}

nlohmann::json gain_json(const BenchOptions& options, const StubGain& gain) {
  nlohmann::json json = {
      {"model", options.models.front()},
      {"device", options.device},
      {"stubs", options.stubs},
      {"nodes", gain.nodes},
      {"types", gain.types},
      {"with_stubs", measured_json(gain.stubbed)},
      {"stub_ms", ms(gain.stub_us)},
      {"left_ms", ms(gain.left_us)},
      {"left", gain.left},
      {"subgraphs", {{"before", gain.subgraphs_before}, {"after", gain.subgraphs_after}}},
      {"inseparable", gain.inseparable},
      {"first_device", gain.first_device},
      {"refused", gain.refused}};
  if (!gain.baseline_failure.empty()) {
    json["baseline_failure"] = gain.baseline_failure;
    return json;
  }
  json["baseline"] = measured_json(gain.baseline);
  const double latency = latency_spread(gain.baseline).median;
  const StubPart sum = sum_of(gain);
  json["parts"] = nlohmann::json::array();
  for (const StubPart& part : gain.parts) {
    const double share = share_of(part, sum.all_us);
    json["parts"].push_back({{"subgraph", part.subgraph},
                             {"device", part.device},
                             {"rows", part.rows},
                             {"stubbed_ms", ms(part.stubbed_us)},
                             {"all_ms", ms(part.all_us)},
                             {"share", share},
                             {"latency_bound_ms", amdahl_bound(latency, share)}});
  }
  const double share = share_of(sum, sum.all_us);
  json["share"] = share;
  json["latency_bound_ms"] = amdahl_bound(latency, share);
  return json;
}

std::string bracketed(const Spread& spread) {
  return fmt::format("{:.2f} [{:.2f} {:.2f}]", spread.median, spread.least, spread.most);
}

void print_measured(const char* name, const std::vector<BenchRound>& rounds) {
  std::printf("  %-14s %26s %30s\n", name, bracketed(latency_spread(rounds)).c_str(),
              bracketed(throughput_spread(rounds)).c_str());
}

void print_list(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  std::printf("%s\n", title);
  for (size_t i = 0; i < std::min(lines.size(), kShownLines); ++i) {
    std::printf("  %s\n", lines[i].c_str());
  }
  if (lines.size() > kShownLines) std::printf("  and %zu more\n", lines.size() - kShownLines);
}

void print_part(const std::string& name, const StubPart& part, int64_t all_us, double latency_ms) {
  const double share = share_of(part, all_us);
  std::printf("  %-28s %5zu %12.3f %10.3f %7.1f %% %13.2f ms\n", name.c_str(), part.rows,
              ms(part.stubbed_us), ms(part.all_us), 100.0 * share, amdahl_bound(latency_ms, share));
}

void print_parts(const StubGain& gain) {
  const double latency = latency_spread(gain.baseline).median;
  const StubPart sum = sum_of(gain);
  std::printf("By the times of nodes in one request (PERF_COUNT):\n");
  std::printf("  %-28s %5s %12s %10s %9s %16s\n", "", "rows", "of these, ms", "of all, ms",
              "of all", "latency at least");
  for (const StubPart& part : gain.parts) {
    const std::string name =
        part.subgraph.empty() ? part.device : fmt::format("{} on {}", part.subgraph, part.device);
    print_part(name, part, sum.all_us, latency);
  }
  if (gain.parts.size() > 1) print_part("together", sum, sum.all_us, latency);
  print_list("Times that cannot be told apart:", gain.inseparable);
}

void print_gain(const BenchOptions& options, const StubGain& gain) {
  std::string types;
  for (const std::string& type : gain.types) types += (types.empty() ? "" : ", ") + type;
  std::printf("If %zu node%s took no time (%s), on %s\n", gain.nodes, gain.nodes == 1 ? "" : "s",
              types.c_str(), options.device.c_str());
  std::printf("Measured in turn, %d round%s:\n", options.rounds, options.rounds == 1 ? "" : "s");
  std::printf("  %-14s %26s %30s\n", "", "latency, ms [rounds]", "throughput, items/s [rounds]");
  if (gain.baseline_failure.empty()) print_measured("as it is", gain.baseline);
  print_measured("with stubs", gain.stubbed);
  if (gain.baseline_failure.empty()) {
    const double before = latency_spread(gain.baseline).median;
    const double after = latency_spread(gain.stubbed).median;
    const double slow = throughput_spread(gain.baseline).median;
    std::printf("  gain at most: %.2f ms (%.1f %%) of the latency, throughput times %.2f\n",
                before - after, before > 0 ? 100.0 * (before - after) / before : 0.0,
                slow > 0 ? throughput_spread(gain.stubbed).median / slow : 0.0);
  } else {
    std::printf("  as it is, the model does not run: %s\n", gain.baseline_failure.c_str());
  }
  std::printf("  the stubs' own time, writing zeros, is in it: %.3f ms\n", ms(gain.stub_us));
  print_list(
      fmt::format("What is left with stubs, {:.3f} ms in nodes, most of it in", ms(gain.left_us))
          .c_str(),
      gain.left);
  if (!gain.subgraphs_after.empty()) {
    std::printf("Subgraphs: %s, with stubs %s\n",
                gain.subgraphs_before.empty() ? "-" : gain.subgraphs_before.c_str(),
                gain.subgraphs_after.c_str());
  }
  print_list(fmt::format("Of these nodes {} cannot run today, and is taken to run in no time:",
                         gain.first_device)
                 .c_str(),
             gain.refused);
  if (gain.baseline_failure.empty()) print_parts(gain);
}

}  // namespace

Status print_stub_gain(Core& core, const BenchOptions& options) {
  HET_ASSIGN(const StubGain gain, measure_stub_gain(core, options));
  HET_TRY(print_json(options, gain_json(options, gain)));
  if (!options.json) print_gain(options, gain);
  return {};
}

}  // namespace het
