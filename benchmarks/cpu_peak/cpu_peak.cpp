// Multiply-adds a second that the processor reaches at best, from registers: float32 by FMA,
// bfloat16 and bytes by dot products, on one core and on all at once. bench_cpu_peak [SECONDS of a
// measurement, 0.2] Prints a JSON object: {"cores": N, "tiles": false, "f32": {"instruction",
// "one", "all"}, ...}; one and all are 1e9 multiply-adds a second.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include <sched.h>

#include "benchmarks/cpu_peak/chains.h"

namespace het::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// Some tens of microseconds, below a time slice.
constexpr int64_t kRounds = 10'000;
/// The most of so many measurements counts: what disturbs makes them slower only.
constexpr int kRepeats = 5;

volatile double kSum = 0.0;

double multiply_adds_of(const Chains& chains, double seconds) {
  double done = 0.0;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    kSum = chains.run(kRounds);
    done += static_cast<double>(kRounds) * chains.multiply_adds;
  }
  return done;
}

/// 1e9 a second on so many threads that begin together.
double measure(const Chains& chains, unsigned threads, double seconds) {
  std::barrier begin(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> rates(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      multiply_adds_of(chains, 0.02);
      begin.arrive_and_wait();
      const auto start = Clock::now();
      const double done = multiply_adds_of(chains, seconds);
      rates[t] = done / std::chrono::duration<double>(Clock::now() - start).count() * 1e-9;
    });
  }
  double total = 0.0;
  for (unsigned t = 0; t < threads; ++t) {
    workers[t].join();
    total += rates[t];
  }
  return total;
}

/// Those that this process may use.
unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                     : std::thread::hardware_concurrency();
}

int print_peaks(double seconds) {
  nlohmann::json json = {{"cores", cores()}, {"tiles", has_tiles()}};
  const std::vector<Chains> all = chains_of_processor();
  std::vector<double> one(all.size());
  std::vector<double> together(all.size());
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    for (size_t i = 0; i < all.size(); ++i) {
      one[i] = std::max(one[i], measure(all[i], 1, seconds));
      together[i] = std::max(together[i], measure(all[i], cores(), seconds));
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    json[all[i].type] = {
        {"instruction", all[i].instruction}, {"one", one[i]}, {"all", together[i]}};
  }
  std::printf("%s\n", json.dump(1).c_str());
  return 0;
}

}  // namespace
}  // namespace het::bench

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 0.2;
  if (argc > 2 || !(seconds > 0.0 && seconds <= 60.0)) {
    std::fprintf(stderr, "usage: bench_cpu_peak [SECONDS of a measurement, above 0, at most 60]\n");
    return 2;
  }
  return het::bench::print_peaks(seconds);
}
