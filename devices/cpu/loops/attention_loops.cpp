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
#include "devices/cpu/loops/attention_integers-inl.h"
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

ElementType integers_here() {
#ifdef HET_ATTENTION_INTEGERS
  return has_dot_of_quads() ? ElementType::Int8 : ElementType::Int16;
#else
  return ElementType::Float32;
#endif
}

int64_t attention_block_rows() {
  return kAttentionRows;
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
/// in the same place; zeros follow up to a whole vector. Returns what they must be multiplied by.
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
  return 1.0f / total;
}

bool multiplies_integers(ElementType product) {
  return product == ElementType::Int8 || product == ElementType::Int16;
}

/// Values of a word, as kInWord.
int64_t in_word(ElementType product) {
  if (product == ElementType::Int8) return 4;
  return product == ElementType::Float32 ? 1 : 2;
}

int64_t words_of(ElementType product, int64_t k) {
  return (k + in_word(product) - 1) / in_word(product);
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
  return (words_of(shape.scores_product, shape.depth) * 4 + 63) / 64 * 64;
}

size_t scratch_bytes_of(const AttentionShape& shape) {
  return static_cast<size_t>(kAttentionRows *
                             (score_row_floats(shape.keys) * static_cast<int64_t>(sizeof(float)) +
                              query_row_bytes(shape)));
}

/// The rows of a block, in the type of the product with the keys.
template <class To, class From>
void take_rows(const AttentionShape& shape, const AttentionBlock& block, std::byte* to) {
  const auto* from = reinterpret_cast<const From*>(block.query.first);
  for (int64_t r = 0; r < block.rows; ++r, from += block.query.row, to += query_row_bytes(shape)) {
    take_row(from, block.query.column, shape.depth, block.query.zero, reinterpret_cast<To*>(to));
  }
}

template <class From>
void take_floats(const AttentionShape& shape, const AttentionBlock& block, std::byte* to) {
  if (shape.scores_product == ElementType::BFloat16) {
    return take_rows<BFloat16, From>(shape, block, to);
  }
  take_rows<float, From>(shape, block, to);
}

template <class From>
void take_bytes(const AttentionShape& shape, const AttentionBlock& block, std::byte* to) {
  if (shape.scores_product == ElementType::Int16) {
    return take_rows<int16_t, From>(shape, block, to);
  }
  take_rows<uint8_t, From>(shape, block, to);
}

void take_queries(const AttentionShape& shape, const AttentionBlock& block, std::byte* to) {
  switch (block.query.type) {
    case ElementType::UInt8:
      return take_bytes<uint8_t>(shape, block, to);
    case ElementType::Int8:
      return take_bytes<int8_t>(shape, block, to);
    case ElementType::BFloat16:
      return take_floats<BFloat16>(shape, block, to);
    default:
      return take_floats<float>(shape, block, to);
  }
}

/// Whether queries can be multiplied where they lie.
bool are_queries_in_place(const AttentionShape& shape, const AttentionMatrix& query) {
  const ElementType wanted =
      shape.scores_product == ElementType::Int8 ? ElementType::UInt8 : shape.scores_product;
  const int64_t row = query.row * static_cast<int64_t>(byte_width(query.type));
  // Rows whose distance is a large power of two would meet in the cache.
  return query.type == wanted && query.column == 1 &&
         shape.depth % in_word(shape.scores_product) == 0 && row % 2048 != 0;
}

void multiply_panel(const AttentionShape& shape, ElementType product, int64_t rows, int64_t columns,
                    const AttentionTile& tile) {
#ifdef HET_ATTENTION_INTEGERS
  if (multiplies_integers(product)) {
    return multiply_integer_panel(rows, columns, product, shape.emulates_quads, tile);
  }
#endif
  (void)shape;
  multiply(rows, columns, product == ElementType::BFloat16, tile);
}

size_t panels_bytes(ElementType product, int64_t k, int64_t n) {
  const int64_t columns = (n + kAttentionPanel - 1) / kAttentionPanel * kAttentionPanel;
  return static_cast<size_t>((columns * words_of(product, k) * 4 + 63) / 64 * 64);
}

/// Panels, and for products in Int8 the sums of their columns.
size_t packed_bytes_of(ElementType product, int64_t k, int64_t n) {
  return panels_bytes(product, k, n) +
         (product == ElementType::Int8 ? panels_bytes(ElementType::Float32, 1, n) : 0);
}

/// `left_zero`: of what a product in Int8 has to the left.
void pack_matrix(const AttentionShape& shape, ElementType product, int32_t left_zero,
                 const AttentionMatrix& matrix, int64_t k, int64_t n, std::byte* packed) {
  pack_panels_of(matrix, k, n, product, packed);
#ifdef HET_ATTENTION_INTEGERS
  if (product == ElementType::Int8 && left_zero != 0) {
    sum_byte_columns(words_of(product, k), n, shape.emulates_quads, packed,
                     reinterpret_cast<int32_t*>(packed + panels_bytes(product, k, n)));
  }
#else
  (void)shape;
  (void)left_zero;
#endif
}

void pack_keys(const AttentionShape& shape, const AttentionMatrix& keys, std::byte* packed) {
  pack_matrix(shape, shape.scores_product, shape.query_zero, keys, shape.depth, shape.keys, packed);
}

void pack_values(const AttentionShape& shape, const AttentionMatrix& values, std::byte* packed) {
  pack_matrix(shape, shape.values_product, shape.weights_zero, values, shape.keys, shape.columns,
              packed);
}

size_t keys_bytes_of(const AttentionShape& shape) {
  return packed_bytes_of(shape.scores_product, shape.depth, shape.keys);
}

size_t values_bytes_of(const AttentionShape& shape) {
  return packed_bytes_of(shape.values_product, shape.keys, shape.columns);
}

#ifdef HET_ATTENTION_INTEGERS
ZeroPoints score_zeros(const AttentionShape& shape, const std::byte* keys) {
  if (shape.scores_product != ElementType::Int8) return {};
  return {shape.query_zero, shape.key_zero, shape.depth,
          reinterpret_cast<const int32_t*>(
              keys + panels_bytes(ElementType::Int8, shape.depth, shape.keys))};
}

ZeroPoints result_zeros(const AttentionShape& shape, const std::byte* values) {
  if (shape.values_product != ElementType::Int8) return {};
  return {shape.weights_zero, shape.value_zero, shape.keys,
          reinterpret_cast<const int32_t*>(
              values + panels_bytes(ElementType::Int8, shape.keys, shape.columns))};
}
#endif

/// The scores of a block, before they are multiplied by the factor.
void make_scores(const AttentionShape& shape, const AttentionBlock& block, float* scores) {
  const int64_t score_row = score_row_floats(shape.keys);
  AttentionTile tile{};
  tile.left = block.query.first;
  tile.left_row = block.query.row * static_cast<int64_t>(byte_width(block.query.type));
  if (!are_queries_in_place(shape, block.query)) {
    std::byte* const copies = block.scratch + kAttentionRows * score_row * 4;
    take_queries(shape, block, copies);
    tile.left = copies;
    tile.left_row = query_row_bytes(shape);
  }
  tile.words = words_of(shape.scores_product, shape.depth);
  tile.panel = block.keys;
  tile.sums_row = score_row;
  for (int64_t first = 0; first < shape.keys; first += kAttentionPanel) {
    tile.sums = scores + first;
    multiply_panel(shape, shape.scores_product, block.rows, shape.keys - first, tile);
    tile.panel += tile.words * kAttentionPanel * 4;
  }
#ifdef HET_ATTENTION_INTEGERS
  if (!multiplies_integers(shape.scores_product)) return;
  const ZeroPoints zeros = score_zeros(shape, block.keys);
  for (int64_t r = 0; r < block.rows; ++r) {
    const int32_t sum =
        zeros.right != 0 ? sum_of_bytes(tile.left + r * tile.left_row, shape.depth) : 0;
    finish_integers(zeros, zeros.of_row(sum), 0, shape.keys, scores + r * score_row);
  }
#endif
}

/// The weights of a row in the type of the product with the values. Returns what that is
/// multiplied by.
float make_weights(const AttentionShape& shape, const AttentionBlock& block, int64_t r,
                   float* row) {
  const float* const mask = block.mask != nullptr ? block.mask + r * block.mask_row : nullptr;
  const ElementType type = shape.values_product;
  if (shape.weights_scale == 0.0f) {
    return shape.value_factor * (type == ElementType::BFloat16
                                     ? weigh_row<BFloat16>(shape, row, mask, block.mask_column)
                                     : weigh_row<float>(shape, row, mask, block.mask_column));
  }
  const float factor = weigh_row<float>(shape, row, mask, block.mask_column);
  if (type == ElementType::Int8) {
    round_weights<uint8_t>(shape, factor, row);
  } else if (type == ElementType::Int16) {
    round_weights<int16_t>(shape, factor, row);
  } else if (type == ElementType::BFloat16) {
    round_weights<BFloat16>(shape, factor, row);
  } else {
    round_weights<float>(shape, factor, row);
  }
  return shape.value_factor * shape.weights_scale;
}

void attend_block(const AttentionShape& shape, const AttentionBlock& block) {
  auto* const scores = reinterpret_cast<float*>(block.scratch);
  const int64_t score_row = score_row_floats(shape.keys);
  make_scores(shape, block, scores);
  std::array<float, kAttentionRows> factors;
  for (int64_t r = 0; r < block.rows; ++r) {
    factors[static_cast<size_t>(r)] = make_weights(shape, block, r, scores + r * score_row);
  }
#ifdef HET_ATTENTION_INTEGERS
  const ZeroPoints zeros = result_zeros(shape, block.values);
  std::array<int32_t, kAttentionRows> of_rows{};
  for (int64_t r = 0; r < block.rows; ++r) {
    const std::byte* const row = block.scratch + r * score_row * 4;
    const int32_t sum = zeros.right != 0 ? sum_of_bytes(row, shape.keys) : 0;
    of_rows[static_cast<size_t>(r)] = zeros.of_row(sum);
  }
#endif
  alignas(64) std::array<float, kAttentionRows * kAttentionPanel> sums;
  AttentionTile tile{};
  tile.left = block.scratch;
  tile.left_row = score_row * 4;
  tile.words = words_of(shape.values_product, shape.keys);
  tile.panel = block.values;
  tile.sums = sums.data();
  tile.sums_row = kAttentionPanel;
  for (int64_t first = 0; first < shape.columns; first += kAttentionPanel) {
    const int64_t columns = std::min<int64_t>(kAttentionPanel, shape.columns - first);
    multiply_panel(shape, shape.values_product, block.rows, columns, tile);
#ifdef HET_ATTENTION_INTEGERS
    for (int64_t r = 0; r < block.rows && multiplies_integers(shape.values_product); ++r) {
      finish_integers(zeros, of_rows[static_cast<size_t>(r)], first, columns,
                      sums.data() + r * kAttentionPanel);
    }
#endif
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
HWY_EXPORT(integers_here);
HWY_EXPORT(attention_block_rows);
HWY_EXPORT(keys_bytes_of);
HWY_EXPORT(values_bytes_of);
HWY_EXPORT(scratch_bytes_of);
HWY_EXPORT(pack_keys);
HWY_EXPORT(pack_values);
HWY_EXPORT(attend_block);

bool has_bfloat16_attention() {
  return HWY_DYNAMIC_DISPATCH(attention_multiplies_pairs)();
}

ElementType attention_integers() {
  return HWY_DYNAMIC_DISPATCH(integers_here)();
}

int64_t attention_rows() {
  return HWY_DYNAMIC_DISPATCH(attention_block_rows)();
}

size_t attention_keys_bytes(const AttentionShape& shape) {
  return HWY_DYNAMIC_DISPATCH(keys_bytes_of)(shape);
}

size_t attention_values_bytes(const AttentionShape& shape) {
  return HWY_DYNAMIC_DISPATCH(values_bytes_of)(shape);
}

size_t attention_scratch_bytes(const AttentionShape& shape) {
  return HWY_DYNAMIC_DISPATCH(scratch_bytes_of)(shape);
}

void pack_attention_keys(const AttentionShape& shape, const AttentionMatrix& keys,
                         std::byte* packed) {
  HWY_DYNAMIC_DISPATCH(pack_keys)(shape, keys, packed);
}

void pack_attention_values(const AttentionShape& shape, const AttentionMatrix& values,
                           std::byte* packed) {
  HWY_DYNAMIC_DISPATCH(pack_values)(shape, values, packed);
}

void attend(const AttentionShape& shape, const AttentionBlock& block) {
  HWY_DYNAMIC_DISPATCH(attend_block)(shape, block);
}

}  // namespace het::cpu
#endif
