#include "devices/cpu/moves/strided_move.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "devices/cpu/loops/transpose_loops.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// Bytes that a thread should have to copy before another one is worth waking.
constexpr int64_t kMoveGrainBytes = 32 * 1024;
/// Side of the square that is turned at once when rows become columns.
constexpr int64_t kTile = 16;

/// Columns become rows, in registers where elements have 1, 2 or 4 bytes.
template <class T>
void turn(MatrixRows<const T> src, MatrixRows<T> dst, int64_t rows, int64_t columns) {
  if constexpr (sizeof(T) == 1) {
    return transpose(src, dst, rows, columns);
  } else if constexpr (sizeof(T) == 2 || sizeof(T) == 4) {
    if (rows >= kTile && columns >= kTile) {
      // The bits are copied, whatever they stand for.
      using Number = std::conditional_t<sizeof(T) == 2, BFloat16, float>;
      return transpose({reinterpret_cast<const Number*>(src.values), src.stride},
                       MatrixRows<Number>{reinterpret_cast<Number*>(dst.values), dst.stride}, rows,
                       columns);
    }
  }
  for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
    const int64_t c1 = std::min(c0 + kTile, columns);
    for (int64_t r0 = 0; r0 < rows; r0 += kTile) {
      const int64_t r1 = std::min(r0 + kTile, rows);
      for (int64_t c = c0; c < c1; ++c) {
        const T* const from = src.values + c;
        T* const to = dst.values + c * dst.stride;
        for (int64_t r = r0; r < r1; ++r) to[r] = from[r * src.stride];
      }
    }
  }
}

}  // namespace

StridedMove::StridedMove(const std::vector<int64_t>& dims, const std::vector<int64_t>& src_strides,
                         const std::vector<int64_t>& dst_strides, size_t width)
    : width_(width) {
  std::vector<Loop> loops;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] != 1) loops.push_back({dims[d], src_strides[d], dst_strides[d]});
  }
  std::stable_sort(loops.begin(), loops.end(),
                   [](const Loop& a, const Loop& b) { return a.dst > b.dst; });
  std::vector<Loop> merged;
  for (const Loop& loop : loops) {
    if (!merged.empty() && merged.back().src == loop.src * loop.count &&
        merged.back().dst == loop.dst * loop.count) {
      merged.back() = {merged.back().count * loop.count, loop.src, loop.dst};
    } else {
      merged.push_back(loop);
    }
  }
  if (!merged.empty()) {
    inner_ = merged.back();
    merged.pop_back();
  }
  if (!merged.empty() && inner_.src != 1) {
    // Reading along the source's rows while writing along the target's needs both in one tile.
    auto row = std::find_if(merged.begin(), merged.end(), [](const Loop& l) { return l.src == 1; });
    if (row == merged.end()) row = merged.end() - 1;
    row_ = *row;
    merged.erase(row);
  } else if (!merged.empty()) {
    row_ = merged.back();
    merged.pop_back();
  }
  outer_ = std::move(merged);
  for (const Loop& loop : outer_) outer_count_ *= loop.count;
}

template <class T>
void StridedMove::run_inner(const T* src, T* dst, int64_t rows) const {
  if (inner_.src == 1 && inner_.dst == 1) {
    for (int64_t r = 0; r < rows; ++r) {
      std::memcpy(dst + r * row_.dst, src + r * row_.src,
                  static_cast<size_t>(inner_.count) * sizeof(T));
    }
    return;
  }
  if (row_.src == 1 && inner_.src != 0 && inner_.dst == 1 && rows > 1) {
    return turn<T>({src, inner_.src}, {dst, row_.dst}, inner_.count, rows);
  }
  // Nothing lies together in the source: the target's order is the best there is.
  for (int64_t r = 0; r < rows; ++r) {
    const T* from = src + r * row_.src;
    T* to = dst + r * row_.dst;
    if (inner_.src == 0 && inner_.dst == 1) {
      std::fill(to, to + inner_.count, *from);
      continue;
    }
    for (int64_t i = 0; i < inner_.count; ++i) to[i * inner_.dst] = from[i * inner_.src];
  }
}

template <class T>
void StridedMove::run_typed(const T* src, T* dst) const {
  if (inner_.count == 0 || row_.count == 0 || outer_count_ == 0) return;
  const int64_t inner_bytes =
      std::max<int64_t>(row_.count * inner_.count * static_cast<int64_t>(sizeof(T)), 1);
  if (outer_count_ == 1) {
    // One plane: its rows are what can be shared out.
    const int64_t row_bytes = std::max<int64_t>(inner_bytes / row_.count, 1);
    if (row_.count > 1) {
      parallel_for(row_.count, std::max<int64_t>(kMoveGrainBytes / row_bytes, kTile),
                   [&](int64_t begin, int64_t end) {
                     run_inner(src + begin * row_.src, dst + begin * row_.dst, end - begin);
                   });
    } else {
      run_inner(src, dst, row_.count);
    }
    return;
  }
  parallel_for(outer_count_, std::max<int64_t>(kMoveGrainBytes / inner_bytes, 1),
               [&](int64_t begin, int64_t end) {
                 for (int64_t o = begin; o < end; ++o) {
                   int64_t rest = o;
                   int64_t from = 0;
                   int64_t to = 0;
                   for (size_t d = outer_.size(); d-- > 0;) {
                     const int64_t i = rest % outer_[d].count;
                     rest /= outer_[d].count;
                     from += i * outer_[d].src;
                     to += i * outer_[d].dst;
                   }
                   run_inner(src + from, dst + to, row_.count);
                 }
               });
}

void StridedMove::run(const std::byte* src, std::byte* dst) const {
  switch (width_) {
    case 1:
      return run_typed(reinterpret_cast<const uint8_t*>(src), reinterpret_cast<uint8_t*>(dst));
    case 2:
      return run_typed(reinterpret_cast<const uint16_t*>(src), reinterpret_cast<uint16_t*>(dst));
    case 4:
      return run_typed(reinterpret_cast<const uint32_t*>(src), reinterpret_cast<uint32_t*>(dst));
    default:
      return run_typed(reinterpret_cast<const uint64_t*>(src), reinterpret_cast<uint64_t*>(dst));
  }
}

}  // namespace het::cpu
