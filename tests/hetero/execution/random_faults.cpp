// Faults at random moments of pipelines on HETERO: random_faults [RUNS [SEED [FIRST]]]
//
// A run is 300 frames on two devices that fail and CPU: see FaultRuns. Run number n of a seed is
// the same whatever RUNS and FIRST are. Ends with 1 when a run goes wrong or a kind of fault never
// came about.
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "inference/base/log.h"
#include "tests/hetero/execution/fault_run.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kBetweenLines{10};

int run(size_t runs, uint64_t seed, size_t first) {
  set_log_sink([](LogLevel, std::string_view) {}, LogLevel::Error);  // warnings come by thousands
  FaultRuns faults;
  size_t failed = 0;
  auto told = Clock::now();
  const auto start = told;
  for (size_t i = first; i < first + runs; ++i) {
    const std::string problem = faults.run(seed, i);
    if (!problem.empty()) {
      ++failed;
      fmt::print("FAILED  run {} (again: {} {} {}): {}\n", i, 1, seed, i, problem);
    }
    if (Clock::now() - told < kBetweenLines) continue;
    told = Clock::now();
    fmt::print("{} of {} runs, {} failed\n", i + 1 - first, runs, failed);
    std::fflush(stdout);
  }
  bool all_kinds = true;
  fmt::print("faults hit:");
  for (size_t c = 0; c < kDeviceCalls; ++c) {
    const auto call = static_cast<DeviceCall>(c);
    fmt::print(" {} {}", to_string(call), faults.hits(call));
    all_kinds = all_kinds && faults.hits(call) > 0;
  }
  fmt::print("; in {} runs both devices, {} devices taken back\n", faults.second_faults(),
             faults.returns());
  if (!all_kinds) fmt::print("FAILED  a kind of fault never came about: more runs\n");
  fmt::print("{} passed, {} failed, 0 skipped ({:.0f} s)\n", runs - failed, failed,
             std::chrono::duration<double>(Clock::now() - start).count());
  return failed == 0 && all_kinds ? 0 : 1;
}

}  // namespace
}  // namespace het::hetero

int main(int argc, char** argv) {
  const auto number = [&](int index, uint64_t fallback) {
    return argc > index ? std::strtoull(argv[index], nullptr, 10) : fallback;
  };
  return het::hetero::run(number(1, 1000), number(2, 1), number(3, 0));
}
