// Multiply-adds a second that the processor reaches at best, from registers: float32 by FMA,
// bfloat16 and bytes by dot products, on one core and on all at once. bench_cpu_peak [SECONDS of a
// measurement, 0.2] Prints a JSON object: {"cores": N, "tiles": false, "f32": {"instruction",
// "one", "all"}, ...}; one and all are 1e9 multiply-adds a second.
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include <sched.h>

#include "inference/machine/processor_limits.h"

namespace het::bench {
namespace {

constexpr int kRepeats = 5;

/// Those that this process may use.
unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set))
                                                     : std::thread::hardware_concurrency();
}

int print_peaks(double seconds) {
  nlohmann::json json = {{"cores", cores()}, {"tiles", processor_has_tiles()}};
  for (const ProcessorRate& rate : measure_processors(cores(), seconds, kRepeats)) {
    json[rate.type] = {{"instruction", rate.instruction}, {"one", rate.one}, {"all", rate.all}};
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
