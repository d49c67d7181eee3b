#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

namespace het::cpu {

/// Runs body(begin, end) over disjoint parts of [0, count) on the calling stream's OpenMP team, the
/// one oneDNN uses too. Parts hold at least `grain` items, so small loops stay on the calling
/// thread. The split depends on the team's size only, never on timing. `body` must not throw.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  const int64_t parts = std::min<int64_t>(
      omp_get_max_threads(), std::max<int64_t>(count / std::max<int64_t>(grain, 1), 1));
  if (parts <= 1) {
    body(int64_t{0}, count);
    return;
  }
#pragma omp parallel num_threads(static_cast <int>(parts))
  {
    const int64_t team = omp_get_num_threads();
    const int64_t part = omp_get_thread_num();
    const int64_t begin = count * part / team;
    const int64_t end = count * (part + 1) / team;
    if (begin < end) body(begin, end);
  }
}

}  // namespace het::cpu
