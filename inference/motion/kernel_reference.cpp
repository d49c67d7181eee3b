#include "inference/motion/kernel_reference.h"

#include <algorithm>
#include <cstdlib>

namespace het::motion_internal {
namespace {

void sum_rows(const uint8_t* const* rows, int count, int columns, uint16_t* sums) {
  for (int x = 0; x < columns; ++x) {
    int sum = 0;
    for (int row = 0; row < count; ++row) sum += rows[row][x];
    sums[x] = static_cast<uint16_t>(sum);
  }
}

void add_pairs(const uint16_t* sums, int columns, uint16_t* pairs) {
  for (int x = 0; x < columns; ++x) pairs[x] = static_cast<uint16_t>(sums[2 * x] + sums[2 * x + 1]);
}

void means(const uint16_t* sums, int shift, int columns, uint8_t* out) {
  const int half = (1 << shift) >> 1;
  for (int x = 0; x < columns; ++x) out[x] = static_cast<uint8_t>((sums[x] + half) >> shift);
}

void add_columns(const uint8_t* now, const uint16_t* background, int columns, uint16_t* now_sums,
                 uint16_t* background_sums) {
  for (int x = 0; x < columns; ++x) {
    now_sums[x] = static_cast<uint16_t>(now_sums[x] + now[x]);
    background_sums[x] =
        static_cast<uint16_t>(background_sums[x] + (background[x] >> (kLevelBits - 4)));
  }
}

void compare_row(const ComparedRow& row, int columns) {
  constexpr int kTop = 0xffff;
  for (int x = 0; x < columns; ++x) {
    const int now = row.now[x] << kLevelBits;
    const int product = static_cast<int>((uint32_t{row.background[x]} * row.gain[x]) >> 16);
    const int lit = std::min(product, kTop >> (16 - kGainBits)) << (16 - kGainBits);
    const int expected = std::max(std::min(lit + row.brighter, kTop) - row.darker, 0);
    const int difference = std::abs(now - expected);
    const bool is_still = difference <= row.threshold[x];
    const bool follows = is_still || row.since[x] > kStopFrames;
    const int step = follows ? difference >> kStillShift : 0;
    row.since[x] = static_cast<uint8_t>(is_still ? 0 : std::min(row.since[x] + 1, 255));
    row.background[x] = static_cast<uint16_t>(now > expected ? expected + step : expected - step);
    row.changed[x] = is_still ? 0 : 255;
    const int quarters = std::min(difference >> (kLevelBits - 2), kMaxQuarters);
    row.quarters[x] = static_cast<uint16_t>(row.quarters[x] + quarters);
  }
}

void count_quads(const uint8_t* above, const uint8_t* changed, int columns, uint16_t* counts) {
  for (int x = 0; x < columns; ++x) {
    const int quad = above[x] & above[x + 1] & changed[x] & changed[x + 1] & 1;
    counts[x] = static_cast<uint16_t>(counts[x] + quad);
  }
}

constexpr MotionKernels kReference{sum_rows,    add_pairs,   means,
                                   add_columns, compare_row, count_quads};

}  // namespace

const MotionKernels& reference_kernels() {
  return kReference;
}

}  // namespace het::motion_internal
