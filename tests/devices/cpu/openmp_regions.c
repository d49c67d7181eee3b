/* A library that uses OpenMP, as oneDNN does. */
#include "openmp_regions.h"

#include <omp.h>

int openmp_regions(int threads, struct openmp_thread* seen, void (*meet)(void)) {
  int arrived = 0;
  int met_early = 0;
#pragma omp parallel num_threads(threads)
  {
    const int number = omp_get_thread_num();
    seen[number].count = omp_get_num_threads();
    seen[number].in_parallel = omp_in_parallel();
    seen[number].runs += 1;
    if (meet != 0) meet();
#pragma omp atomic
    arrived += 1;
#pragma omp barrier
    int all;
#pragma omp atomic read
    all = arrived;
    if (all != omp_get_num_threads()) {
#pragma omp atomic
      met_early += 1;
    }
  }
  return met_early;
}
