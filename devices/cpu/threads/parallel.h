#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "devices/cpu/threads/team.h"

namespace het::cpu {

/// Runs body(begin, end) over disjoint parts of [0, count) on the calling stream's team, the one
/// oneDNN uses too. Parts hold at least `grain` items, so small loops stay on the calling
/// thread. The split depends on the team's size only, never on timing. `body` must not throw.
template <class Body>
void parallel_for(int64_t count, int64_t grain, const Body& body) {
  if (count <= 0) return;
  const int64_t parts =
      std::min<int64_t>(team_size(), std::max<int64_t>(count / std::max<int64_t>(grain, 1), 1));
  if (parts <= 1) {
    body(int64_t{0}, count);
    return;
  }
  struct Loop {
    const Body& body;
    int64_t count;
    int64_t parts;
  };
  const Loop loop{body, count, parts};
  run_parts(
      static_cast<int>(parts),
      [](const void* data, int part) {
        const Loop& all = *static_cast<const Loop*>(data);
        const int64_t begin = all.count * part / all.parts;
        const int64_t end = all.count * (part + 1) / all.parts;
        if (begin < end) all.body(begin, end);
      },
      &loop);
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
inline constexpr size_t kSharedPackingBytes = size_t{1} << 20;

}  // namespace het::cpu
