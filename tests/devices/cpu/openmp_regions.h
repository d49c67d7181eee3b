#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/// What a thread of a region has seen.
struct openmp_thread {
  int runs;
  int count;
  int in_parallel;
};

/// A region of so many threads, which wait for each other once; how many of them went on before all
/// had arrived. Each calls `meet` before, unless that is null.
int openmp_regions(int threads, struct openmp_thread* seen, void (*meet)(void));

#ifdef __cplusplus
}
#endif
