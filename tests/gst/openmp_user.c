/* What an application computes with OpenMP on its own, for runnable_threads.py. */
#include <math.h>

/* A sum of square roots on a team of that many threads. */
__attribute__((visibility("default"))) double sum_of_roots(long count, int threads) {
  double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(threads)
  for (long i = 0; i < count; ++i) sum += sqrt((double)i);
  return sum;
}
