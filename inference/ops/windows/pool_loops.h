#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "inference/ops/windows/pool.h"

namespace het {

/// The kernel elements [begin, end) of dimension `d` that lie inside the input at position `o`.
struct TapRange {
  int64_t begin;
  int64_t end;
  int64_t first;  ///< input coordinate of kernel element 0

  TapRange(const Window3& win, size_t d, int64_t o) : first(win.input_at(d, o, 0)) {
    const int64_t step = win.dilations[d];
    begin = first >= 0 ? 0 : (-first + step - 1) / step;
    end = first >= win.in[d] ? 0 : std::min(win.kernel[d], (win.in[d] - first + step - 1) / step);
    end = std::max(begin, end);
  }
};

/// Calls visit(position, ranges) for every window position of one plane, row-major.
template <class Visit>
void for_each_window(const Window3& win, const Visit& visit) {
  int64_t position = 0;
  for (int64_t d = 0; d < win.out[0]; ++d) {
    for (int64_t h = 0; h < win.out[1]; ++h) {
      for (int64_t w = 0; w < win.out[2]; ++w) {
        visit(position++,
              std::array{TapRange(win, 0, d), TapRange(win, 1, h), TapRange(win, 2, w)});
      }
    }
  }
}

/// Calls take(index) with the index in the plane of every element under the window.
template <class Take>
void for_each_element(const Window3& win, const std::array<TapRange, 3>& ranges, const Take& take) {
  for (int64_t z = ranges[0].begin; z < ranges[0].end; ++z) {
    const int64_t d = ranges[0].first + z * win.dilations[0];
    for (int64_t y = ranges[1].begin; y < ranges[1].end; ++y) {
      const int64_t h = ranges[1].first + y * win.dilations[1];
      const int64_t row = (d * win.in[1] + h) * win.in[2];
      for (int64_t k = ranges[2].begin; k < ranges[2].end; ++k) {
        take(row + ranges[2].first + k * win.dilations[2]);
      }
    }
  }
}

/// Elements that count in the average with count_include_pad: those of the padded input, which
/// a window in ceil_mode may leave at the end.
inline int64_t padded_count(const PoolAttributes& pool, const Window3& win,
                            const std::array<TapRange, 3>& ranges) {
  int64_t count = 1;
  const size_t missing = 3 - pool.kernel.size();
  for (size_t d = missing; d < 3; ++d) {
    const int64_t room = win.in[d] + pool.pads_end[d - missing] - ranges[d].first;
    count *= std::min(win.kernel[d], (room + win.dilations[d] - 1) / win.dilations[d]);
  }
  return count;
}

inline int64_t inside_count(const std::array<TapRange, 3>& ranges) {
  int64_t count = 1;
  for (const TapRange& range : ranges) count *= range.end - range.begin;
  return count;
}

/// Elements that the sum under a window is divided by; 0 for a window over padding only.
inline int64_t averaged_count(const PoolAttributes& pool, const Window3& win,
                              const std::array<TapRange, 3>& ranges) {
  return pool.count_include_pad ? padded_count(pool, win, ranges) : inside_count(ranges);
}

}  // namespace het
