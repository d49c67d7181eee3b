#pragma once

#include <omp.h>
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// libgomp is not instrumented, so ThreadSanitizer is told where a team forks and joins. The
/// compiler's own record of what the team shares is written after that point: the function with the
/// team is not instrumented itself (HET_TEAM_HIDDEN), the body it calls is.
#if defined(__SANITIZE_THREAD__)
#define HET_TEAM_HIDDEN __attribute__((no_sanitize("thread")))
inline void team_release(void* point) {
  __tsan_release(point);
}
inline void team_acquire(void* point) {
  __tsan_acquire(point);
}
#else
#define HET_TEAM_HIDDEN
inline void team_release(void*) {}
inline void team_acquire(void*) {}
#endif

/// Runs body(begin, end) over disjoint parts of [0, count) on the calling stream's OpenMP team, the
/// one oneDNN uses too. Parts hold at least `grain` items, so small loops stay on the calling
/// thread. The split depends on the team's size only, never on timing. `body` must not throw.
template <class Body>
HET_TEAM_HIDDEN void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  const int64_t parts = std::min<int64_t>(
      omp_get_max_threads(), std::max<int64_t>(count / std::max<int64_t>(grain, 1), 1));
  if (parts <= 1) {
    body(int64_t{0}, count);
    return;
  }
  char fork = 0;  // only its address counts, as that of join
  char join = 0;
  team_release(&fork);
#pragma omp parallel num_threads(static_cast <int>(parts))
  {
    team_acquire(&fork);
    const int64_t team = omp_get_num_threads();
    const int64_t part = omp_get_thread_num();
    const int64_t begin = count * part / team;
    const int64_t end = count * (part + 1) / team;
    if (begin < end) body(begin, end);
    team_release(&join);
  }
  team_acquire(&join);
}

/// Runs body(slot, begin, end) over parts of [0, count), one for each thread of the team that was
/// planned for, whatever the calling one is: a slot has scratch memory of its own.
template <class Body>
void in_slots(int64_t team, int64_t count, const Body& body) {
  parallel_for(team, 1, [&](int64_t first, int64_t last) {
    for (int64_t slot = first; slot < last; ++slot) {
      const int64_t begin = count * slot / team;
      const int64_t end = count * (slot + 1) / team;
      if (begin < end) body(slot, begin, end);
    }
  });
}

/// Constants from here on are packed by the whole team.
inline constexpr size_t kSharedPackingBytes = size_t{16} << 20;

/// The calling thread works alone while this lives: waking the team costs more than a small task is
/// worth, and its threads would then spin for the next one beside whatever else is running.
class AloneScope {
 public:
  AloneScope() : team_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~AloneScope() { omp_set_num_threads(team_); }
  AloneScope(const AloneScope&) = delete;
  AloneScope& operator=(const AloneScope&) = delete;

 private:
  int team_;
};

}  // namespace het::cpu
