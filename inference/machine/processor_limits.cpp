#include "inference/machine/processor_limits.h"

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <thread>

#include "inference/machine/multiply_chains.h"

namespace het {
namespace {

using LimitClock = std::chrono::steady_clock;

/// Some tens of microseconds, below a time slice.
constexpr int64_t kChainRounds = 10'000;

volatile double kChainSum = 0.0;
volatile uint64_t kWordSum = 0;

/// What `work` reports done in so many seconds.
double done_within(double seconds, const std::function<double()>& work) {
  double done = 0.0;
  const auto end = LimitClock::now() + std::chrono::duration<double>(seconds);
  do {
    done += work();
  } while (LimitClock::now() < end);
  return done;
}

/// 1e9 a second, by threads that begin together; `work(t)` makes the work of thread t.
double rate_of(unsigned threads, double seconds,
               const std::function<std::function<double()>(unsigned)>& work) {
  std::barrier begin(static_cast<std::ptrdiff_t>(threads));
  std::vector<double> rates(threads);
  std::vector<std::thread> workers;
  for (unsigned t = 0; t < threads; ++t) {
    workers.emplace_back([&, t] {
      const std::function<double()> own = work(t);
      done_within(std::min(0.02, seconds / 2), own);
      begin.arrive_and_wait();
      const auto start = LimitClock::now();
      const double done = done_within(seconds, own);
      rates[t] = done / std::chrono::duration<double>(LimitClock::now() - start).count() * 1e-9;
    });
  }
  double total = 0.0;
  for (unsigned t = 0; t < threads; ++t) {
    workers[t].join();
    total += rates[t];
  }
  return total;
}

double chain_rate(const Chains& chains, unsigned threads, double seconds) {
  return rate_of(threads, seconds, [&](unsigned) {
    return [&chains] {
      kChainSum = chains.run(kChainRounds);
      return static_cast<double>(kChainRounds) * chains.multiply_adds;
    };
  });
}

uint64_t sum_of(const uint64_t* words, size_t count) {
  uint64_t a = 0, b = 0, c = 0, d = 0;
  for (size_t i = 0; i + 4 <= count; i += 4) {
    a += words[i], b += words[i + 1], c += words[i + 2], d += words[i + 3];
  }
  return a + b + c + d;
}

}  // namespace

std::vector<ProcessorRate> measure_processors(unsigned threads, double seconds, int repeats) {
  const std::vector<Chains> all = chains_of_processor();
  std::vector<ProcessorRate> rates;
  for (const Chains& chains : all) rates.push_back({chains.type, chains.instruction});
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (size_t i = 0; i < all.size(); ++i) {
      rates[i].one = std::max(rates[i].one, chain_rate(all[i], 1, seconds));
      rates[i].all = std::max(rates[i].all, chain_rate(all[i], threads, seconds));
    }
  }
  return rates;
}

bool processor_has_tiles() {
  return has_tiles();
}

MemoryRates measure_memory(unsigned threads, size_t bytes, double seconds) {
  // Of a thread: a half that is read and a half that is written.
  const size_t words = bytes / threads / 2 / sizeof(uint64_t);
  std::vector<std::unique_ptr<uint64_t[]>> memory;
  for (unsigned t = 0; t < threads; ++t) {
    memory.emplace_back(new (std::nothrow) uint64_t[2 * words]);
    if (memory.back() == nullptr) return {};
  }
  MemoryRates rates;
  rates.copy = rate_of(threads, seconds, [&](unsigned t) -> std::function<double()> {
    uint64_t* const own = memory[t].get();
    // On the thread that uses it, for its NUMA node.
    std::memset(own, static_cast<int>(t), 2 * words * sizeof(uint64_t));
    return [own, words] {
      std::memcpy(own + words, own, words * sizeof(uint64_t));
      return 2.0 * static_cast<double>(words * sizeof(uint64_t));
    };
  });
  rates.read = rate_of(threads, seconds, [&](unsigned t) -> std::function<double()> {
    const uint64_t* const own = memory[t].get();
    return [own, words] {
      kWordSum = sum_of(own, 2 * words);
      return 2.0 * static_cast<double>(words * sizeof(uint64_t));
    };
  });
  return rates;
}

}  // namespace het
