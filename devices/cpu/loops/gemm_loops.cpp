#include "devices/cpu/loops/gemm_loops.h"

#include <algorithm>
#include <cstring>

#include "devices/cpu/loops/half_loops.h"

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/gemm_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/bfloat16-inl.h"
#include "devices/cpu/loops/turned_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of up to 16 floats; a panel has two of them.
using PanelTag = hn::CappedTag<float, 16>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(PanelTag()));
constexpr int kPanel = 2 * kLanes;
/// Rows of a block: its sums, two vectors of b and one of a fill the registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kRows = 14;
#elif HWY_TARGET == HWY_AVX2
constexpr int kRows = 6;
#else
constexpr int kRows = 4;
#endif

constexpr int64_t kCacheLine = 64;
/// Weights that are behind those in use by so many bytes are fetched in time from memory.
constexpr int64_t kSoon = 2048;

int64_t panel_columns() {
  return kPanel;
}

int64_t block_rows() {
  return kRows;
}

HWY_INLINE hn::Vec<PanelTag> load_weights(const float* from) {
  return hn::Load(PanelTag(), from);
}

HWY_INLINE hn::Vec<PanelTag> load_weights(const BFloat16* from) {
  return load_bfloat16(PanelTag(), reinterpret_cast<const uint16_t*>(from));
}

/// One block of kUsed rows times one panel. `next` is fetched line by line on the way.
template <int kUsed, class W>
void multiply_gemm_block(const GemmShape& shape, int64_t depth, const float* block, const W* panel,
                         const float* bias, const float* sum, const char* next, int64_t next_step,
                         int64_t columns, float* dst) {
  const PanelTag d;
  using V = hn::Vec<PanelTag>;
  V sums[kUsed][2];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
    sums[r][0] = hn::LoadU(d, bias);
    sums[r][1] = hn::LoadU(d, bias + kLanes);
  }
  for (int64_t i = 0; i < depth; ++i) {
    const V b0 = load_weights(panel);
    const V b1 = load_weights(panel + kLanes);
    panel += kPanel;
    __builtin_prefetch(next, 0, 2);
    __builtin_prefetch(next + kCacheLine, 0, 2);
    next += next_step;
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      const V a = hn::Set(d, block[r]);
      sums[r][0] = hn::MulAdd(a, b0, sums[r][0]);
      sums[r][1] = hn::MulAdd(a, b1, sums[r][1]);
    }
    block += kUsed;
  }
  if (columns == kPanel) {
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      float* const row = dst + r * shape.dst_stride;
      if (sum != nullptr) {
        sums[r][0] = hn::Add(sums[r][0], hn::LoadU(d, sum + r * shape.dst_stride));
        sums[r][1] = hn::Add(sums[r][1], hn::LoadU(d, sum + r * shape.dst_stride + kLanes));
      }
      hn::StoreU(sums[r][0], d, row);
      hn::StoreU(sums[r][1], d, row + kLanes);
    }
    return;
  }
  HWY_ALIGN float row[kPanel];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
    hn::Store(sums[r][0], d, row);
    hn::Store(sums[r][1], d, row + kLanes);
    for (int64_t c = 0; c < columns; ++c) {
      dst[r * shape.dst_stride + c] =
          row[c] + (sum != nullptr ? sum[r * shape.dst_stride + c] : 0.0f);
    }
  }
}

/// Calls multiply_gemm_block() for a number of rows up to kMost.
template <int kMost, class... Arguments>
void multiply_gemm_rows(int64_t rows, const Arguments&... arguments) {
  if constexpr (kMost > 1) {
    if (rows < kMost) return multiply_gemm_rows<kMost - 1>(rows, arguments...);
  }
  multiply_gemm_block<kMost>(arguments...);
}

/// Rows are spread evenly over the blocks: short ones would waste loads of b.
struct RowBlocks {
  explicit RowBlocks(const GemmShape& shape) : m(shape.m), count((shape.m + kRows - 1) / kRows) {}
  int64_t first(int64_t block) const { return m * block / count; }
  int64_t m, count;
};

void rows_of(const GemmShape& shape, const float* a, int64_t row_stride, int64_t column_stride,
             int64_t begin, int64_t end, float* blocks) {
  const RowBlocks cut(shape);
  for (int64_t slice = 0; slice < shape.slices(); ++slice) {
    const int64_t from_depth = shape.first_of(slice);
    const int64_t depth = shape.first_of(slice + 1) - from_depth;
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = cut.first(block);
      const int64_t rows = cut.first(block + 1) - first;
      float* to = blocks + from_depth * shape.m + first * depth;
      const float* const corner = a + first * row_stride + from_depth * column_stride;
      int64_t r = 0;
      for (; column_stride == 1 && r + 4 <= rows; r += 4) {
        const float* const from = corner + r * row_stride;
        turn_four_rows({from, from + row_stride, from + 2 * row_stride, from + 3 * row_stride},
                       depth, rows, to + r);
      }
      for (; r < rows; ++r) {
        const float* from = corner + r * row_stride;
        for (int64_t i = 0; i < depth; ++i) to[i * rows + r] = from[i * column_stride];
      }
    }
  }
}

/// Where a panel of a slice begins in the packed weights.
int64_t panel_offset(const GemmShape& shape, int64_t slice, int64_t panel) {
  const int64_t columns = (shape.n + kPanel - 1) / kPanel * kPanel;
  const int64_t first = shape.first_of(slice);
  return first * columns + panel * kPanel * (shape.first_of(slice + 1) - first);
}

/// One row of b's columns [first, first + kPanel), those beyond n as 0.
void copy_panel_row(const float* from, int64_t column_stride, int64_t columns, float* to) {
  for (int64_t c = 0; c < columns; ++c) to[c] = from[c * column_stride];
  std::fill(to + columns, to + kPanel, 0.0f);
}

void pack_panel(const float* from, int64_t row_stride, int64_t column_stride, int64_t columns,
                int64_t depth, float* to) {
  for (int64_t i = 0; i < depth; ++i, to += kPanel) {
    copy_panel_row(from + i * row_stride, column_stride, columns, to);
  }
}

void pack_panel(const float* from, int64_t row_stride, int64_t column_stride, int64_t columns,
                int64_t depth, BFloat16* to) {
  constexpr int64_t kRowsAtOnce = 32;
  HWY_ALIGN float rows[kRowsAtOnce * kPanel];
  for (int64_t i = 0; i < depth; i += kRowsAtOnce) {
    const int64_t count = std::min(kRowsAtOnce, depth - i);
    pack_panel(from + i * row_stride, row_stride, column_stride, columns, count, rows);
    float_to_bfloat16_row(rows, static_cast<size_t>(count * kPanel), to + i * kPanel);
  }
}

template <class W>
void pack_panels(const GemmShape& shape, const float* b, int64_t row_stride, int64_t column_stride,
                 int64_t begin, int64_t end, W* packed) {
  for (int64_t slice = 0; slice < shape.slices(); ++slice) {
    const int64_t from_depth = shape.first_of(slice);
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first = panel * kPanel;
      pack_panel(b + from_depth * row_stride + first * column_stride, row_stride, column_stride,
                 std::min<int64_t>(kPanel, shape.n - first), shape.first_of(slice + 1) - from_depth,
                 packed + panel_offset(shape, slice, panel));
    }
  }
}

void panels_of(const GemmShape& shape, const float* b, int64_t row_stride, int64_t column_stride,
               int64_t begin, int64_t end, float* packed) {
  pack_panels(shape, b, row_stride, column_stride, begin, end, packed);
}

void bfloat16_panels_of(const GemmShape& shape, const float* b, int64_t row_stride,
                        int64_t column_stride, int64_t begin, int64_t end, BFloat16* packed) {
  pack_panels(shape, b, row_stride, column_stride, begin, end, packed);
}

template <class W>
void multiply_slices(const GemmShape& shape, const float* blocks, const W* packed,
                     const float* bias, const float* sum, int64_t begin, int64_t end, float* dst) {
  HWY_ALIGN static constexpr float kNoBias[kPanel] = {};
  const RowBlocks cut(shape);
  const int64_t panels = (shape.n + kPanel - 1) / kPanel;
  for (int64_t slice = 0; slice < shape.slices(); ++slice) {
    const int64_t from_depth = shape.first_of(slice);
    const int64_t depth = shape.first_of(slice + 1) - from_depth;
    // Every line of the next panel is fetched by one of the blocks: steps are rounded up.
    const int64_t bytes = depth * kPanel * static_cast<int64_t>(sizeof(W));
    const int64_t share = (bytes + cut.count - 1) / cut.count;
    const int64_t step = (share + depth - 1) / std::max<int64_t>(depth, 1);
    // The slices behind the first one add to what is there.
    const float* const added = slice == 0 ? sum : dst;
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t first_column = panel * kPanel;
      const W* const from = packed + panel_offset(shape, slice, panel);
      // Nothing is fetched behind the last panel: the same lines again cost nothing. A single block
      // reads weights as fast as they come, and fetches what it needs soon.
      const int64_t ahead = cut.count == 1 ? kSoon : panel + 1 < panels ? bytes : 0;
      const auto* next = reinterpret_cast<const char*>(from) + ahead;
      for (int64_t block = 0; block < cut.count; ++block) {
        const int64_t row = cut.first(block);
        const int64_t offset = row * shape.dst_stride + first_column;
        multiply_gemm_rows<kRows>(
            cut.first(block + 1) - row, shape, depth, blocks + from_depth * shape.m + row * depth,
            from, slice == 0 && bias != nullptr ? bias + first_column : kNoBias,
            added != nullptr ? added + offset : nullptr, next + block * share, step,
            std::min<int64_t>(kPanel, shape.n - first_column), dst + offset);
      }
    }
  }
}

void multiply_panels(const GemmShape& shape, const float* blocks, const float* packed,
                     const float* bias, const float* sum, int64_t begin, int64_t end, float* dst) {
  multiply_slices(shape, blocks, packed, bias, sum, begin, end, dst);
}

void multiply_bfloat16_panels(const GemmShape& shape, const float* blocks, const BFloat16* packed,
                              const float* bias, const float* sum, int64_t begin, int64_t end,
                              float* dst) {
  multiply_slices(shape, blocks, packed, bias, sum, begin, end, dst);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(panel_columns);
HWY_EXPORT(block_rows);
HWY_EXPORT(rows_of);
HWY_EXPORT(panels_of);
HWY_EXPORT(bfloat16_panels_of);
HWY_EXPORT(multiply_panels);
HWY_EXPORT(multiply_bfloat16_panels);

int64_t gemm_panel() {
  return HWY_DYNAMIC_DISPATCH(panel_columns)();
}

int64_t gemm_rows() {
  return HWY_DYNAMIC_DISPATCH(block_rows)();
}

size_t gemm_weights_count(const GemmShape& shape) {
  return static_cast<size_t>(gemm_panels(shape) * gemm_panel() * shape.k);
}

size_t gemm_rows_count(const GemmShape& shape) {
  return static_cast<size_t>(shape.m * shape.k);
}

void pack_gemm_panels(const GemmShape& shape, const float* b, int64_t row_stride,
                      int64_t column_stride, int64_t begin, int64_t end, float* packed) {
  HWY_DYNAMIC_DISPATCH(panels_of)(shape, b, row_stride, column_stride, begin, end, packed);
}

void pack_gemm_panels(const GemmShape& shape, const float* b, int64_t row_stride,
                      int64_t column_stride, int64_t begin, int64_t end, BFloat16* packed) {
  HWY_DYNAMIC_DISPATCH(bfloat16_panels_of)
  (shape, b, row_stride, column_stride, begin, end, packed);
}

void pack_gemm_rows(const GemmShape& shape, const float* a, int64_t row_stride,
                    int64_t column_stride, int64_t begin, int64_t end, float* blocks) {
  HWY_DYNAMIC_DISPATCH(rows_of)(shape, a, row_stride, column_stride, begin, end, blocks);
}

void multiply_gemm_panels(const GemmShape& shape, const float* blocks, const float* packed,
                          const float* bias, const float* sum, int64_t begin, int64_t end,
                          float* dst) {
  HWY_DYNAMIC_DISPATCH(multiply_panels)(shape, blocks, packed, bias, sum, begin, end, dst);
}

void multiply_gemm_panels(const GemmShape& shape, const float* blocks, const BFloat16* packed,
                          const float* bias, const float* sum, int64_t begin, int64_t end,
                          float* dst) {
  HWY_DYNAMIC_DISPATCH(multiply_bfloat16_panels)
  (shape, blocks, packed, bias, sum, begin, end, dst);
}

}  // namespace het::cpu
#endif
