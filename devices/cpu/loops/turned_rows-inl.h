// Rows that become columns, as packed operands of products have them. Included by loops after
// hwy/highway.h, once per instruction set.
#include <hwy/highway.h>

#include <array>
#include <cstdint>
#include <cstring>

#if defined(HET_TURNED_ROWS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_TURNED_ROWS_INL_H
#undef HET_TURNED_ROWS_INL_H
#else
#define HET_TURNED_ROWS_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Four rows of `count` words become columns: word i of row r goes to to[i * step + r]. Their bits
/// are copied, be they floats or pairs of bfloat16. Where there are no vectors, rows beyond `step`
/// are left out.
HWY_INLINE void turn_four_rows(const std::array<const float*, 4>& rows, int64_t count, int64_t step,
                               float* to) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::CappedTag<float, 16> d;
  const hn::Repartition<uint64_t, hn::CappedTag<float, 16>> pairs;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<float, 16>()));
  HWY_ALIGN float turned[4][kLanes];
  for (; i + kLanes <= count; i += kLanes) {
    const auto r0 = hn::LoadU(d, rows[0] + i);
    const auto r1 = hn::LoadU(d, rows[1] + i);
    const auto r2 = hn::LoadU(d, rows[2] + i);
    const auto r3 = hn::LoadU(d, rows[3] + i);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
    // Block b of turned[c] has column 4 * b + c.
    hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, turned[0]);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, turned[1]);
    hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, turned[2]);
    hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, turned[3]);
    for (int64_t k = 0; k < kLanes; ++k) {
      std::memcpy(to + (i + k) * step, turned[k % 4] + k / 4 * 4, 4 * sizeof(float));
    }
  }
#endif
  const auto columns = static_cast<size_t>(step < 4 ? step : 4);
  for (; i < count; ++i) {
    for (size_t r = 0; r < columns; ++r) {
      std::memcpy(to + i * step + static_cast<int64_t>(r), rows[r] + i, sizeof(float));
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // per instruction set
