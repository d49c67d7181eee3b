#include "devices/cpu/threads/openmp_calls.h"

#include <omp.h>

#include <array>
#include <utility>

#include "devices/cpu/threads/redirected_calls.h"
#include "devices/cpu/threads/team.h"

// What gcc makes of "#pragma omp parallel" and "#pragma omp barrier" (libgomp's ABI). Threads
// without a team go on to libgomp.
extern "C" {
void GOMP_parallel(void (*region)(void*), void* data, unsigned threads, unsigned flags);
void GOMP_barrier();
}

namespace het::cpu {
namespace {

struct Region {
  void (*run)(void*);
  void* data;
  int threads;
};

/// The region that the calling thread runs for a team.
struct Place {
  int threads = 0;  ///< 0: none
  int thread = 0;
};
thread_local Place place;

void run_region(const void* data, int part) {
  const auto& region = *static_cast<const Region*>(data);
  const Place before = std::exchange(place, Place{region.threads, part});
  region.run(region.data);
  place = before;
}

void parallel(void (*run)(void*), void* data, unsigned threads, unsigned flags) {
  if (!has_team()) {
    GOMP_parallel(run, data, threads, flags);
    return;
  }
  const int wanted = threads != 0 ? static_cast<int>(threads) : omp_get_max_threads();
  const Region region{run, data, is_in_part() ? 1 : wanted};
  run_parts(region.threads, run_region, &region);
}

void barrier() {
  if (!has_team()) {
    GOMP_barrier();
  } else if (place.threads > 1) {
    wait_for_all_parts();
  }
}

int thread_num() {
  return place.threads > 0 ? place.thread : omp_get_thread_num();
}

int num_threads() {
  return place.threads > 0 ? place.threads : omp_get_num_threads();
}

int in_parallel() {
  return is_in_part() || omp_in_parallel() != 0 ? 1 : 0;
}

}  // namespace

bool run_regions_on_teams(const void* inside) {
  const std::array<RedirectedCall, 5> calls = {{
      {"GOMP_parallel", reinterpret_cast<void*>(&parallel)},
      {"GOMP_barrier", reinterpret_cast<void*>(&barrier)},
      {"omp_get_thread_num", reinterpret_cast<void*>(&thread_num)},
      {"omp_get_num_threads", reinterpret_cast<void*>(&num_threads)},
      {"omp_in_parallel", reinterpret_cast<void*>(&in_parallel)},
  }};
  return redirect_calls(inside, calls);
}

}  // namespace het::cpu
