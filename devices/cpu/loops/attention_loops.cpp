#include "devices/cpu/loops/attention_loops.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/attention_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/activation-inl.h"
#include "devices/cpu/loops/attention_packing-inl.h"
#include "devices/cpu/loops/attention_tiles-inl.h"
#include "devices/cpu/loops/channel_values-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

bool attention_multiplies_pairs() {
  return has_bfloat16_instructions();
}

int64_t attention_block_rows() {
  return kAttentionRows;
}

int64_t attention_panel_columns() {
  return kAttentionPanel;
}

/// Exponentials, none of which is negative. The bits of a NaN do not count.
HWY_INLINE void store_weights(AttentionVector value, float* to) {
  hn::Store(value, AttentionTag(), to);
}

HWY_INLINE void store_weights(AttentionVector value, BFloat16* to) {
  const AttentionBits bits;
  const hn::RebindToSigned<AttentionTag> whole;
  const auto rounded = hn::Add(hn::BitCast(bits, value), hn::Set(bits, 0x8000));
  hn::StoreU(hn::DemoteTo(AttentionHalf(), hn::BitCast(whole, hn::ShiftRight<16>(rounded))),
             AttentionHalf(), reinterpret_cast<uint16_t*>(to));
}

/// Scores of one row become exponentials of their distance from the largest, as floats or bfloat16
/// in the same place; zeros follow up to a whole vector. Returns what the product with the values
/// must be multiplied by.
template <class To>
HWY_INLINE float weigh_row(const AttentionShape& shape, float* scores, const float* mask,
                           int64_t mask_column) {
  const AttentionTag d;
  const auto lowest = hn::Set(d, -std::numeric_limits<float>::infinity());
  const auto factor = hn::Set(d, shape.factor);
  const int64_t whole = shape.keys / kAttentionLanes * kAttentionLanes;
  const auto used = hn::FirstN(d, static_cast<size_t>(shape.keys - whole));
  const int64_t end = whole < shape.keys ? whole + kAttentionLanes : whole;
  auto largest = lowest;
  // Max() of x86 takes its second operand where one is NaN: NaN is found in the sum.
  const auto note = [&](int64_t i, AttentionVector x) HWY_ATTR {
    hn::Store(x, d, scores + i);
    largest = hn::Max(largest, x);
  };
  const auto scaled = [&](int64_t i) HWY_ATTR { return hn::Mul(hn::Load(d, scores + i), factor); };
  // Lanes behind the row become zeros as those of -infinity do.
  if (mask == nullptr) {
    for (int64_t i = 0; i < whole; i += kAttentionLanes) note(i, scaled(i));
    if (whole < end) note(whole, hn::IfThenElse(used, scaled(whole), lowest));
  } else if (mask_column == 0) {
    const auto same = hn::Set(d, mask[0]);
    for (int64_t i = 0; i < whole; i += kAttentionLanes) note(i, hn::Add(scaled(i), same));
    if (whole < end) note(whole, hn::IfThenElse(used, hn::Add(scaled(whole), same), lowest));
  } else {
    for (int64_t i = 0; i < whole; i += kAttentionLanes) {
      note(i, hn::Add(scaled(i), hn::LoadU(d, mask + i)));
    }
    if (whole < end) {
      const auto last = load_first_channels(d, mask + whole, shape.keys - whole);
      const auto x = hn::Add(scaled(whole), last);
      note(whole, hn::IfThenElse(used, x, lowest));
    }
  }
  // A row of nothing but -infinity sums to 0, one that has NaN beside them to NaN.
  const auto most = hn::MaxOfLanes(d, largest);
  const auto from = hn::IfThenElse(hn::Eq(most, lowest), hn::Zero(d), most);
  auto sum = hn::Zero(d);
  auto* const to = reinterpret_cast<To*>(scores);
  for (int64_t i = 0; i < end; i += kAttentionLanes) {
    const auto x = hn::Sub(hn::Load(d, scores + i), from);
    // Below -87 bounded_exp() is no exponential; NaN is not below.
    const auto e = hn::IfThenZeroElse(hn::Lt(x, hn::Set(d, -87.0f)), bounded_exp(d, x));
    sum = hn::Add(sum, e);
    store_weights(e, to + i);
  }
  const float total = hn::GetLane(hn::SumOfLanes(d, sum));
  if (total == 0.0f && (shape.zero_without_keys || shape.zero_for_nan)) return 0.0f;
  if (std::isnan(total) && shape.zero_for_nan) {
    std::fill_n(to, end, To(0.0f));
    return 0.0f;
  }
  return shape.value_factor / total;
}

template <class T>
void store_scaled(const AttentionBlock& block, const float* sums, const float* factors,
                  int64_t first, int64_t columns) {
  const AttentionTag d;
  for (int64_t r = 0; r < block.rows; ++r) {
    T* const to = reinterpret_cast<T*>(block.output) + r * block.output_row + first;
    const float* const from = sums + r * kAttentionPanel;
    const auto factor = hn::Set(d, factors[r]);
    int64_t c = 0;
    for (; c + kAttentionLanes <= columns; c += kAttentionLanes) {
      store_values(hn::Mul(hn::Load(d, from + c), factor), to + c);
    }
    for (; c < columns; ++c) to[c] = T(from[c] * factors[r]);
  }
}

/// Floats of a row of scores: an odd number of cache lines, so that the rows of a block do not meet
/// in the same part of the cache; at least a vector more than there are keys.
int64_t score_row_floats(int64_t keys) {
  return (keys + kAttentionPanel - 1) / kAttentionPanel * kAttentionPanel + 16;
}

int64_t query_row_bytes(const AttentionShape& shape) {
  const int64_t width = shape.product == ElementType::BFloat16 ? 2 : 4;
  return ((shape.depth + 1) * width + 63) / 64 * 64;
}

size_t scratch_bytes_of(const AttentionShape& shape) {
  return static_cast<size_t>(kAttentionRows *
                             (score_row_floats(shape.keys) * static_cast<int64_t>(sizeof(float)) +
                              query_row_bytes(shape)));
}

template <class From>
void take_queries(const AttentionShape& shape, const AttentionBlock& block, std::byte* to) {
  const auto* from = reinterpret_cast<const From*>(block.query.first);
  for (int64_t r = 0; r < block.rows; ++r, from += block.query.row, to += query_row_bytes(shape)) {
    if (shape.product == ElementType::BFloat16) {
      take_row(from, block.query.column, shape.depth, reinterpret_cast<BFloat16*>(to));
    } else {
      take_row(from, block.query.column, shape.depth, reinterpret_cast<float*>(to));
    }
  }
}

void attend_block(const AttentionShape& shape, const AttentionBlock& block) {
  const bool pairs = shape.product == ElementType::BFloat16;
  const int64_t width = pairs ? 2 : 4;
  auto* const scores = reinterpret_cast<float*>(block.scratch);
  const int64_t score_row = score_row_floats(shape.keys);
  AttentionTile tile{};
  tile.left = block.query.first;
  tile.left_row = block.query.row * width;
  // Rows whose distance is a large power of two would meet in the cache.
  if (block.query.type != shape.product || block.query.column != 1 ||
      (pairs && shape.depth % 2 != 0) || tile.left_row % 2048 == 0) {
    std::byte* const copies = block.scratch + kAttentionRows * score_row * 4;
    if (block.query.type == ElementType::BFloat16) {
      take_queries<BFloat16>(shape, block, copies);
    } else {
      take_queries<float>(shape, block, copies);
    }
    tile.left = copies;
    tile.left_row = query_row_bytes(shape);
  }
  tile.words = pairs ? (shape.depth + 1) / 2 : shape.depth;
  tile.panel = block.keys;
  tile.sums_row = score_row;
  for (int64_t first = 0; first < shape.keys; first += kAttentionPanel) {
    tile.sums = scores + first;
    multiply(block.rows, shape.keys - first, pairs, tile);
    tile.panel += tile.words * kAttentionPanel * 4;
  }
  std::array<float, kAttentionRows> factors;
  for (int64_t r = 0; r < block.rows; ++r) {
    float* const row = scores + r * score_row;
    const float* const mask = block.mask != nullptr ? block.mask + r * block.mask_row : nullptr;
    factors[static_cast<size_t>(r)] = pairs
                                          ? weigh_row<BFloat16>(shape, row, mask, block.mask_column)
                                          : weigh_row<float>(shape, row, mask, block.mask_column);
  }
  alignas(64) std::array<float, kAttentionRows * kAttentionPanel> sums;
  tile.left = block.scratch;
  tile.left_row = score_row * 4;
  tile.words = pairs ? (shape.keys + 1) / 2 : shape.keys;
  tile.panel = block.values;
  tile.sums = sums.data();
  tile.sums_row = kAttentionPanel;
  for (int64_t first = 0; first < shape.columns; first += kAttentionPanel) {
    const int64_t columns = std::min<int64_t>(kAttentionPanel, shape.columns - first);
    multiply(block.rows, columns, pairs, tile);
    if (block.output_type == ElementType::BFloat16) {
      store_scaled<BFloat16>(block, sums.data(), factors.data(), first, columns);
    } else {
      store_scaled<float>(block, sums.data(), factors.data(), first, columns);
    }
    tile.panel += tile.words * kAttentionPanel * 4;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(attention_multiplies_pairs);
HWY_EXPORT(attention_block_rows);
HWY_EXPORT(attention_panel_columns);
HWY_EXPORT(scratch_bytes_of);
HWY_EXPORT(pack_panels_of);
HWY_EXPORT(attend_block);

namespace {

size_t attention_panel_bytes(const AttentionShape& shape, int64_t k, int64_t n) {
  const int64_t panel = HWY_DYNAMIC_DISPATCH(attention_panel_columns)();
  const int64_t words = shape.product == ElementType::BFloat16 ? (k + 1) / 2 : k;
  const int64_t bytes = (n + panel - 1) / panel * panel * words * 4;
  return static_cast<size_t>((bytes + 63) / 64 * 64);
}

}  // namespace

bool has_bfloat16_attention() {
  return HWY_DYNAMIC_DISPATCH(attention_multiplies_pairs)();
}

int64_t attention_rows() {
  return HWY_DYNAMIC_DISPATCH(attention_block_rows)();
}

size_t attention_keys_bytes(const AttentionShape& shape) {
  return attention_panel_bytes(shape, shape.depth, shape.keys);
}

size_t attention_values_bytes(const AttentionShape& shape) {
  return attention_panel_bytes(shape, shape.keys, shape.columns);
}

size_t attention_scratch_bytes(const AttentionShape& shape) {
  return HWY_DYNAMIC_DISPATCH(scratch_bytes_of)(shape);
}

void pack_attention_keys(const AttentionShape& shape, const AttentionMatrix& keys,
                         std::byte* packed) {
  HWY_DYNAMIC_DISPATCH(pack_panels_of)(keys, shape.depth, shape.keys, shape.product, packed);
}

void pack_attention_values(const AttentionShape& shape, const AttentionMatrix& values,
                           std::byte* packed) {
  HWY_DYNAMIC_DISPATCH(pack_panels_of)(values, shape.keys, shape.columns, shape.product, packed);
}

void attend(const AttentionShape& shape, const AttentionBlock& block) {
  HWY_DYNAMIC_DISPATCH(attend_block)(shape, block);
}

}  // namespace het::cpu
#endif
