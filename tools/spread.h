#pragma once

#include <cstdint>
#include <vector>

namespace het {

/// One inference of a measurement. Times in milliseconds.
struct Inference {
  double end_ms = 0.0;  ///< since the measurement began
  double latency_ms = 0.0;
};

/// Every inference of an uninterrupted run, in no order.
struct Measured {
  std::vector<Inference> inferences;
  double duration_ms = 0.0;
};

/// A part of a run.
struct BenchRound {
  double latency_ms = 0.0;  ///< median
  double throughput = 0.0;  ///< items per second
};

/// A value over the rounds of a measurement.
struct Spread {
  double median = 0.0;
  double least = 0.0;
  double most = 0.0;
};

/// The value below which `percent` of the sorted values lie (nearest rank).
double percentile(const std::vector<double>& sorted, double percent);

/// Of at least one value; the median of an even number is the mean of the two in the middle.
Spread spread_of(std::vector<double> values);

/// A run as `count` rounds of as many inferences each (to one), by their ends; less rounds where
/// there are less inferences. A round lasts from the end of the one before it, and the first from
/// the start.
std::vector<BenchRound> rounds_of(const Measured& run, int count, int64_t batch);

/// The whole run as one round.
BenchRound one_round(const Measured& run, int64_t batch);

Spread latency_spread(const std::vector<BenchRound>& rounds);
Spread throughput_spread(const std::vector<BenchRound>& rounds);

/// The nth root of the product of n positive values; 0 where one is 0 or there is none.
double geometric_mean(const std::vector<double>& values);

}  // namespace het
