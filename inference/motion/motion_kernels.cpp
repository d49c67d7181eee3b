#include "inference/motion/motion_kernels.h"

#include "inference/motion/kernel_reference.h"

// Small media boxes have SSE4 without AVX2. Asked for SSE4, Highway builds nothing below it.
#define HWY_WANT_SSE4 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inference/motion/motion_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::motion_internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<uint16_t>;
using Bytes = hn::Rebind<uint8_t, Words>;  ///< as many as there are words in a vector
using WordVec = hn::Vec<Words>;

int lanes() {
  return static_cast<int>(hn::Lanes(Words()));
}

HWY_INLINE WordVec load_bytes(const uint8_t* row) {
  return hn::PromoteTo(Words(), hn::LoadU(Bytes(), row));
}

/// Values up to 255.
HWY_INLINE void store_bytes(WordVec values, uint8_t* out) {
  const hn::RebindToSigned<Words> d;
  hn::StoreU(hn::DemoteTo(Bytes(), hn::BitCast(d, values)), Bytes(), out);
}

void sum_rows_simd(const uint8_t* const* rows, int count, int columns, uint16_t* sums) {
  int x = 0;
  for (; x + lanes() <= columns; x += lanes()) {
    WordVec sum = load_bytes(rows[0] + x);
    for (int row = 1; row < count; ++row) sum = hn::Add(sum, load_bytes(rows[row] + x));
    hn::StoreU(sum, Words(), sums + x);
  }
  for (; x < columns; ++x) {
    int sum = 0;
    for (int row = 0; row < count; ++row) sum += rows[row][x];
    sums[x] = static_cast<uint16_t>(sum);
  }
}

void add_pairs_simd(const uint16_t* sums, int columns, uint16_t* pairs) {
  for (int x = 0; x < columns; x += lanes()) {
    WordVec even;
    WordVec odd;
    hn::LoadInterleaved2(Words(), sums + 2 * x, even, odd);
    hn::StoreU(hn::Add(even, odd), Words(), pairs + x);
  }
}

template <int kShift>
void means_of(const uint16_t* sums, int columns, uint8_t* out) {
  const WordVec half = hn::Set(Words(), static_cast<uint16_t>((1 << kShift) >> 1));
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec sum = hn::Add(hn::LoadU(Words(), sums + x), half);
    store_bytes(hn::ShiftRight<kShift>(sum), out + x);
  }
}

void means_simd(const uint16_t* sums, int shift, int columns, uint8_t* out) {
  switch (shift) {
    case 0:
      return means_of<0>(sums, columns, out);
    case 2:
      return means_of<2>(sums, columns, out);
    case 4:
      return means_of<4>(sums, columns, out);
    default:
      return means_of<6>(sums, columns, out);
  }
}

void add_columns_simd(const uint8_t* now, const uint16_t* background, int columns,
                      uint16_t* now_sums, uint16_t* background_sums) {
  const Words d;
  for (int x = 0; x < columns; x += lanes()) {
    hn::StoreU(hn::Add(hn::LoadU(d, now_sums + x), load_bytes(now + x)), d, now_sums + x);
    const WordVec before = hn::ShiftRight<kLevelBits - 4>(hn::LoadU(d, background + x));
    hn::StoreU(hn::Add(hn::LoadU(d, background_sums + x), before), d, background_sums + x);
  }
}

void compare_row_simd(const ComparedRow& row, int columns) {
  const Words d;
  const WordVec brighter = hn::Set(d, row.brighter);
  const WordVec darker = hn::Set(d, row.darker);
  const WordVec top = hn::Set(d, uint16_t{0xffff >> (16 - kGainBits)});
  const WordVec most = hn::Set(d, uint16_t{kMaxQuarters});
  const WordVec all = hn::Set(d, uint16_t{255});
  const WordVec one = hn::Set(d, uint16_t{1});
  const WordVec stop = hn::Set(d, uint16_t{kStopFrames});
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec now = hn::ShiftLeft<kLevelBits>(load_bytes(row.now + x));
    const WordVec product =
        hn::MulHigh(hn::LoadU(d, row.background + x), hn::LoadU(d, row.gain + x));
    const WordVec lit = hn::ShiftLeft<16 - kGainBits>(hn::Min(product, top));
    const WordVec expected = hn::SaturatedSub(hn::SaturatedAdd(lit, brighter), darker);
    const WordVec up = hn::SaturatedSub(now, expected);
    const WordVec down = hn::SaturatedSub(expected, now);
    const WordVec difference = hn::Or(up, down);  // one of them is 0
    const WordVec above = hn::SaturatedSub(difference, hn::LoadU(d, row.threshold + x));
    const auto is_still = hn::Eq(above, hn::Zero(d));
    const WordVec before = load_bytes(row.since + x);
    const WordVec since = hn::IfThenZeroElse(is_still, hn::Min(hn::Add(before, one), all));
    store_bytes(since, row.since + x);
    // Neither still nor there for long: 0.
    const auto waits = hn::Eq(hn::SaturatedSub(before, stop), hn::Zero(d));
    const auto step = [&](WordVec by) HWY_ATTR {
      const WordVec follows = hn::ShiftRight<kStillShift>(by);
      return hn::IfThenElse(is_still, follows, hn::IfThenZeroElse(waits, follows));
    };
    hn::StoreU(hn::Sub(hn::Add(expected, step(up)), step(down)), d, row.background + x);
    store_bytes(hn::IfThenZeroElse(is_still, all), row.changed + x);
    const WordVec quarters = hn::Min(hn::ShiftRight<kLevelBits - 2>(difference), most);
    hn::StoreU(hn::Add(hn::LoadU(d, row.quarters + x), quarters), d, row.quarters + x);
  }
}

void count_quads_simd(const uint8_t* above, const uint8_t* changed, int columns, uint16_t* counts) {
  const Words d;
  for (int x = 0; x < columns; x += lanes()) {
    const auto pair = [&](const uint8_t* row) HWY_ATTR {
      return hn::And(hn::LoadU(Bytes(), row + x), hn::LoadU(Bytes(), row + x + 1));
    };
    const WordVec quad = hn::PromoteTo(d, hn::And(pair(above), pair(changed)));
    const WordVec one = hn::And(quad, hn::Set(d, uint16_t{1}));
    hn::StoreU(hn::Add(hn::LoadU(d, counts + x), one), d, counts + x);
  }
}

}  // namespace
}  // namespace het::motion_internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::motion_internal {

HWY_EXPORT(sum_rows_simd);
HWY_EXPORT(add_pairs_simd);
HWY_EXPORT(means_simd);
HWY_EXPORT(add_columns_simd);
HWY_EXPORT(compare_row_simd);
HWY_EXPORT(count_quads_simd);

namespace {

constexpr MotionKernels kVectors{
    .sum_rows =
        [](const uint8_t* const* rows, int count, int columns, uint16_t* sums) {
          HWY_DYNAMIC_DISPATCH(sum_rows_simd)(rows, count, columns, sums);
        },
    .add_pairs =
        [](const uint16_t* sums, int columns, uint16_t* pairs) {
          HWY_DYNAMIC_DISPATCH(add_pairs_simd)(sums, columns, pairs);
        },
    .means =
        [](const uint16_t* sums, int shift, int columns, uint8_t* out) {
          HWY_DYNAMIC_DISPATCH(means_simd)
          (sums, shift, columns, out);
        },
    .add_columns =
        [](const uint8_t* now, const uint16_t* background, int columns, uint16_t* now_sums,
           uint16_t* background_sums) {
          HWY_DYNAMIC_DISPATCH(add_columns_simd)
          (now, background, columns, now_sums, background_sums);
        },
    .compare_row =
        [](const ComparedRow& row, int columns) {
          HWY_DYNAMIC_DISPATCH(compare_row_simd)
          (row, columns);
        },
    .count_quads =
        [](const uint8_t* above, const uint8_t* changed, int columns, uint16_t* counts) {
          HWY_DYNAMIC_DISPATCH(count_quads_simd)(above, changed, columns, counts);
        },
};

}  // namespace

const MotionKernels& motion_kernels() {
  static const bool supported = (hwy::SupportedTargets() & HWY_TARGETS) != 0;
  return supported ? kVectors : reference_kernels();
}

}  // namespace het::motion_internal
#endif
