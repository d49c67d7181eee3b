#include "tools/spread.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace het {
namespace {

double middle(const std::vector<double>& sorted) {
  if (sorted.empty()) return 0.0;
  const size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2.0;
}

double median_latency(const Inference* begin, const Inference* end) {
  std::vector<double> latencies;
  for (const Inference* inference = begin; inference != end; ++inference) {
    latencies.push_back(inference->latency_ms);
  }
  std::ranges::sort(latencies);
  return middle(latencies);
}

double items_per_second(size_t inferences, int64_t batch, double duration_ms) {
  if (duration_ms <= 0.0) return 0.0;
  return static_cast<double>(inferences) * static_cast<double>(batch) * 1000.0 / duration_ms;
}

}  // namespace

double percentile(const std::vector<double>& sorted, double percent) {
  if (sorted.empty()) return 0.0;
  const double rank = std::ceil(percent / 100.0 * static_cast<double>(sorted.size()));
  const auto index = static_cast<size_t>(std::max(1.0, rank)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

Spread spread_of(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  return {middle(values), values.front(), values.back()};
}

std::vector<BenchRound> rounds_of(const Measured& run, int count, int64_t batch) {
  std::vector<Inference> inferences = run.inferences;
  std::ranges::sort(inferences, {}, &Inference::end_ms);
  const size_t rounds = std::min(static_cast<size_t>(std::max(1, count)), inferences.size());
  std::vector<BenchRound> result;
  size_t begin = 0;
  double start_ms = 0.0;
  for (size_t i = 0; i < rounds; ++i) {
    const size_t end = inferences.size() * (i + 1) / rounds;
    const double end_ms = inferences[end - 1].end_ms;
    result.push_back({median_latency(inferences.data() + begin, inferences.data() + end),
                      items_per_second(end - begin, batch, end_ms - start_ms)});
    begin = end;
    start_ms = end_ms;
  }
  return result;
}

BenchRound one_round(const Measured& run, int64_t batch) {
  const std::vector<Inference>& all = run.inferences;
  return {median_latency(all.data(), all.data() + all.size()),
          items_per_second(all.size(), batch, run.duration_ms)};
}

Spread latency_spread(const std::vector<BenchRound>& rounds) {
  std::vector<double> values;
  for (const BenchRound& round : rounds) values.push_back(round.latency_ms);
  return spread_of(std::move(values));
}

Spread throughput_spread(const std::vector<BenchRound>& rounds) {
  std::vector<double> values;
  for (const BenchRound& round : rounds) values.push_back(round.throughput);
  return spread_of(std::move(values));
}

double geometric_mean(const std::vector<double>& values) {
  double sum = 0.0;
  for (const double value : values) {
    if (value <= 0.0) return 0.0;
    sum += std::log(value);
  }
  return values.empty() ? 0.0 : std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace het
