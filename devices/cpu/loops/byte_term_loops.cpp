#include "devices/cpu/loops/byte_term_loops.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/byte_term_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/byte_cut-inl.h"
#include "devices/cpu/loops/byte_dots-inl.h"
#include "devices/cpu/loops/int8_tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Pixels of a tile: their sums, the weights of two terms, a vector of ones and two of the source.
#if HWY_TARGET <= HWY_AVX3
constexpr int kBytePixels = 14;
#else
constexpr int kBytePixels = 10;
#endif

HWY_INLINE int64_t copies_of(ByteDot dot) {
  return dot == ByteDot::ChosenPairs ? kPairings : 1;
}

bool pairs_of_bytes_are_fast() {
  return HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;
}

bool quads_are_fast() {
  return has_dot_of_quads();
}

int64_t bytes_of_term() {
  return kTermBytes;
}

bool cut_terms(const Int8Shape& shape, ByteDot dot, const int8_t* weights,
               const WeightStrides& strides, int64_t half, ByteTerms& terms) {
  return cut_half(shape, dot, weights, strides, half, terms);
}

/// The source of packed groups: where those of each four channels of a half begin.
struct GroupBlocks {
  int64_t from[std::max(kSumLanes / 4, 1)] = {};
};

GroupBlocks blocks_of(const Int8Shape& shape, int64_t copies, int64_t half) {
  GroupBlocks blocks;
  for (int64_t k = 0; k < kSumLanes / 4; ++k) {
    // Channels that are not there read what others do.
    const int64_t channel = std::min(half_channel(half, 4 * k), shape.oc - 1);
    const int64_t group = channel * shape.packed_groups / shape.oc;
    blocks.from[k] = copies * group * (shape.ic / shape.packed_groups);
  }
  return blocks;
}

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
/// The four bytes that each channel of a half reads: all the same, or each those of its group.
template <bool kMixed>
HWY_INLINE SumVector load_quads(const uint8_t* from, const GroupBlocks& blocks) {
  const SumTag d;
  int32_t quads[kSumLanes];
  std::memcpy(quads, from + blocks.from[0], sizeof(int32_t));
  if constexpr (!kMixed) return hn::Set(d, quads[0]);
#if HWY_TARGET == HWY_AVX2
  std::memcpy(quads + 1, from + blocks.from[1], sizeof(int32_t));
  const hn::Half<SumTag> d4;
  return hn::Combine(d, hn::Set(d4, quads[1]), hn::Set(d4, quads[0]));
#else
  for (int i = 0; i < kSumLanes; ++i) {
    std::memcpy(quads + i, from + blocks.from[i / 4], sizeof(int32_t));
  }
  return hn::LoadU(d, quads);
#endif
}

/// Adds the terms of a half to the sums of kUsed pixels.
template <ByteDot kDot, bool kMixed, int kUsed>
HWY_INLINE void add_terms(const ByteHalf& half, const GroupBlocks& blocks,
                          const uint8_t* const (&pixels)[kUsed], SumVector (&sums)[kUsed]) {
  const int32_t* offset = half.offsets;
  const int8_t* weights = half.weights;
  for (int32_t i = 0; i < half.coupled; ++i, offset += 2, weights += 2 * kTermBytes) {
    const int64_t first = offset[0];
    const int64_t second = offset[1];
    const SumVector w0 = load_weights(weights);
    const SumVector w1 = load_weights(weights + kTermBytes);
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      const SumVector a = load_quads<kMixed>(pixels[r] + first, blocks);
      const SumVector b = load_quads<kMixed>(pixels[r] + second, blocks);
      sums[r] = add_sums(hn::Add(times_bytes(a, w0), times_bytes(b, w1)), sums[r]);
    }
  }
  for (int32_t i = 0; i < half.single; ++i, ++offset, weights += kTermBytes) {
    const SumVector w = load_weights(weights);
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      sums[r] = add_quads<kDot>(load_quads<kMixed>(pixels[r] + *offset, blocks), w, sums[r]);
    }
  }
}
#else
/// Without the instructions: to check the others, and never chosen.
int saturated_pair(const uint8_t* bytes, const int8_t* weights, ByteDot dot) {
  const int sum = bytes[0] * weights[0] + bytes[1] * weights[1];
  if (dot != ByteDot::Pairs) return sum;
  return std::clamp<int>(sum, std::numeric_limits<int16_t>::min(),
                         std::numeric_limits<int16_t>::max());
}
template <ByteDot kDot, bool kMixed, int kUsed>
void add_terms(const ByteHalf& half, const GroupBlocks& blocks,
               const uint8_t* const (&pixels)[kUsed], SumVector (&sums)[kUsed]) {
  const SumTag d;
  for (int r = 0; r < kUsed; ++r) {
    HWY_ALIGN int32_t added[kSumLanes] = {};
    for (int lane = 0; lane < kSumLanes; ++lane) {
      for (int32_t i = 0; i < 2 * half.coupled + half.single; ++i) {
        const int8_t* const weights = half.weights + i * kTermBytes + lane * kQuad;
        const uint8_t* const bytes = pixels[r] + half.offsets[i] + blocks.from[lane / 4];
        added[lane] +=
            saturated_pair(bytes, weights, kDot) + saturated_pair(bytes + 2, weights + 2, kDot);
      }
    }
    sums[r] = hn::Add(sums[r], hn::Load(d, added));
  }
}
#endif

/// The sums of half `index` of a pixel in the order of interleaved_channel(): every other four
/// channels.
HWY_INLINE void store_half(SumVector sums, int64_t index, int32_t* dst) {
#if HWY_TARGET == HWY_AVX2
  const hn::Half<SumTag> d4;
  hn::StoreU(hn::LowerHalf(d4, sums), d4, dst + 4 * index);
  hn::StoreU(hn::UpperHalf(d4, sums), d4, dst + kSumLanes + 4 * index);
#else
  HWY_ALIGN int32_t plain[kSumLanes];
  hn::Store(sums, SumTag(), plain);
  constexpr int kBlock = std::min(kSumLanes, 4);
  for (int64_t k = 0; k < kSumLanes / kBlock; ++k) {
    const int64_t block = index * (kSumLanes / kBlock) + k;
    std::copy_n(plain + kBlock * k, kBlock, dst + block % 2 * kSumLanes + block / 2 * kBlock);
  }
#endif
}

/// Sums of kUsed pixels times half `index` of a panel, dst[pixel * kColumns + place].
template <ByteDot kDot, bool kMixed, int kUsed>
HWY_NOINLINE void sum_bytes(const ByteHalf& half, int64_t index, const GroupBlocks& blocks,
                            const uint8_t* const* from, int32_t* dst) {
  const SumTag d;
  SumVector sums[kUsed];
  const uint8_t* pixels[kUsed];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
    sums[r] = hn::LoadU(d, half.start);
    pixels[r] = from[r];
  }
  add_terms<kDot, kMixed>(half, blocks, pixels, sums);
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) store_half(sums[r], index, dst + r * kColumns);
}

template <ByteDot kDot, bool kMixed, int kMost>
void sum_byte_tile(int64_t pixels, const ByteHalf& half, int64_t index, const GroupBlocks& blocks,
                   const uint8_t* const* from, int32_t* dst) {
  if constexpr (kMost > 1) {
    if (pixels < kMost) {
      return sum_byte_tile<kDot, kMixed, kMost - 1>(pixels, half, index, blocks, from, dst);
    }
  }
  sum_bytes<kDot, kMixed, kMost>(half, index, blocks, from, dst);
}

/// Panels whose weights stay in the second-level cache while the source of a tile stays in the
/// first.
int64_t panels_together(std::span<const ByteHalf> halves) {
  const ByteHalf& half = halves.front();
  const int64_t bytes = 2 * (2 * int64_t{half.coupled} + half.single) * kTermBytes;
  return std::clamp<int64_t>(second_level_bytes() / 2 / bytes, 1, TileOrder::kMostTogether);
}

template <ByteDot kDot, bool kMixed>
void multiply_by(const Int8Shape& shape, int64_t copies, const std::vector<int32_t>& pixels,
                 const Int8Strip& strip, const uint8_t* gathered, std::span<const ByteHalf> halves,
                 int64_t begin, int64_t end, const Int8Tail& tail, std::byte* dst) {
  const GroupBlocks blocks[2] = {blocks_of(shape, copies, 0), blocks_of(shape, copies, 1)};
  const TileOrder order = {kBytePixels, panels_together(halves)};
  const auto begin_panel = [](int64_t, int64_t) {};
  const auto sum = [&](int64_t panel, const Int8Tile<uint8_t>& tile, int64_t used,
                       int32_t* sums) HWY_ATTR {
    for (int64_t k = 0; k < 2; ++k) {
      sum_byte_tile<kDot, kMixed, kBytePixels>(used, halves[static_cast<size_t>(2 * panel + k)], k,
                                               blocks[k], tile.pixels, sums);
    }
  };
  const Int8Source<uint8_t> source = {gathered, &pixels};
  as_results(shape.dst, dst, [&](auto* results) {
    compute_strip(shape, strip, source, begin, end, tail, order, begin_panel, sum, results);
  });
}

void multiply_panels(const Int8Shape& shape, ByteDot dot, const std::vector<int32_t>& pixels,
                     const Int8Strip& strip, const uint8_t* gathered,
                     std::span<const ByteHalf> halves, int64_t begin, int64_t end,
                     const Int8Tail& tail, std::byte* dst) {
  const auto multiply = [&]<ByteDot kDot>() {
    const bool is_mixed = shape.oc / shape.packed_groups < kSumLanes && shape.packed_groups > 1;
    const auto by = is_mixed ? &multiply_by<kDot, true> : &multiply_by<kDot, false>;
    by(shape, copies_of(dot), pixels, strip, gathered, halves, begin, end, tail, dst);
  };
  switch (dot) {
    case ByteDot::Pairs:
    case ByteDot::ChosenPairs:
      return multiply.template operator()<ByteDot::Pairs>();
    case ByteDot::Quads:
      return multiply.template operator()<ByteDot::Quads>();
    case ByteDot::EmulatedQuads:
      return multiply.template operator()<ByteDot::EmulatedQuads>();
  }
}

/// Terms that do not read over the end of the source.
bool lies_ready(const Int8Shape& shape) {
  return shape.src == ElementType::UInt8 && Int8Geometry(shape).length % kQuad == 0;
}

HWY_NOINLINE void turn_signs(const uint8_t* from, int64_t count, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ static_cast<uint8_t>(kSignedOffset);
}

/// Where byte i of the copies of quads comes from, of a block of quads.
constexpr int64_t spread_from(int64_t i) {
  const int64_t in_copies = i % (kPairings * kQuad);
  return i / (kPairings * kQuad) * kQuad + kPairingOrder[in_copies / kQuad][in_copies % kQuad];
}

/// The same of each of the bytes that a block of 16 becomes.
struct SpreadOrder {
  static constexpr int64_t kBlock = 16;

  constexpr SpreadOrder() {
    for (int64_t i = 0; i < kPairings * kBlock; ++i) from[i] = static_cast<uint8_t>(spread_from(i));
  }

  HWY_ALIGN uint8_t from[kPairings * kBlock] = {};
};
constexpr SpreadOrder kSpreadOrder;

/// Bytes that spread_quads() may write behind what is asked for.
constexpr int64_t kSpreadSlack = 16;

/// Each quad once for each pairing, with `signs` turned. The last one is filled up with anything;
/// the source may be read up to `end`.
HWY_NOINLINE void spread_quads(const uint8_t* from, int64_t count, const uint8_t* end,
                               uint8_t signs, uint8_t* to) {
#if HWY_TARGET == HWY_SCALAR
  for (int64_t k = 0; k < kPairings * ((count + kQuad - 1) / kQuad * kQuad); ++k) {
    to[k] = from + spread_from(k) < end ? from[spread_from(k)] ^ signs : uint8_t{0};
  }
#else
  constexpr int64_t kBlock = SpreadOrder::kBlock;
  const hn::FixedTag<uint8_t, kBlock> d;
  const auto first = hn::Load(d, kSpreadOrder.from);
  const auto second = hn::Load(d, kSpreadOrder.from + kBlock);
  const auto third = hn::Load(d, kSpreadOrder.from + 2 * kBlock);
  const auto spread = [&](const uint8_t* block, uint8_t* copies) HWY_ATTR {
    const auto bytes = hn::Xor(hn::LoadU(d, block), hn::Set(d, signs));
    hn::StoreU(hn::TableLookupBytes(bytes, first), d, copies);
    hn::StoreU(hn::TableLookupBytes(bytes, second), d, copies + kBlock);
    hn::StoreU(hn::TableLookupBytes(bytes, third), d, copies + 2 * kBlock);
  };
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) spread(from + i, to + kPairings * i);
  if (i == count) return;
  if (end - from >= i + kBlock) return spread(from + i, to + kPairings * i);
  uint8_t last[kBlock] = {};
  std::copy_n(from + i, count - i, last);
  spread(last, to + kPairings * i);
#endif
}

const uint8_t* gather_strip_bytes(const Int8Shape& shape, ByteDot dot, const Int8Strip& strip,
                                  const std::byte* src, uint8_t* to) {
  const auto* const from = reinterpret_cast<const uint8_t*>(src);
  const bool is_signed = shape.src == ElementType::Int8;
  const auto zero = static_cast<uint8_t>(shape.src_zero + (is_signed ? kSignedOffset : 0));
  if (dot == ByteDot::ChosenPairs) {
    using Copies = std::array<uint8_t, kPairings>;
    const uint8_t* const end = from + shape.n * shape.ih * shape.iw * shape.groups * shape.ic;
    const auto signs = static_cast<uint8_t>(is_signed ? kSignedOffset : 0);
    const GatherFill<Copies> fill = {{zero, zero, zero}, kSpreadSlack, gathered(shape, dot).ic};
    gather_strip(shape, strip, from, fill, reinterpret_cast<Copies*>(to),
                 [&](const uint8_t* values, int64_t count, Copies* copies) {
                   spread_quads(values, count, end, signs, copies->data());
                 });
    return to;
  }
  if (lies_ready(shape)) {
    const uint8_t* const ready = whole_strip(shape, strip, from);
    if (ready != nullptr) return ready;
  }
  const GatherFill<uint8_t> fill = {zero, kQuad};
  if (is_signed) {
    gather_strip(shape, strip, from, fill, to, turn_signs);
  } else {
    gather_strip(shape, strip, from, fill, to,
                 [](const uint8_t* values, int64_t count, uint8_t* copy) {
                   std::copy_n(values, count, copy);
                 });
  }
  return to;
}

std::vector<int32_t> pixels_of(const Int8Shape& shape, ByteDot dot, int64_t rows) {
  std::vector<int32_t> pixels = widened_offsets(gathered(shape, dot), rows).pixels;
  for (int32_t& pixel : pixels) pixel *= static_cast<int32_t>(copies_of(dot));
  return pixels;
}

int64_t src_bytes(const Int8Shape& shape, ByteDot dot, int64_t rows) {
  const Int8Shape kept = gathered(shape, dot);
  const Int8Geometry geometry(kept);
  // The last term may reach further.
  return copies_of(dot) * (geometry.across * geometry.down(kept, rows) * kept.ic + kSpreadSlack);
}

int64_t quads_of(const Int8Shape& shape, ByteDot dot) {
  const Int8Geometry geometry(gathered(shape, dot));
  return geometry.runs * ((geometry.length + kQuad - 1) / kQuad);
}

int64_t largest_offset(const Int8Shape& shape, ByteDot dot) {
  const Int8Shape kept = gathered(shape, dot);
  const Int8Geometry geometry(kept);
  return copies_of(dot) * (geometry.run(kept, geometry.runs - 1) + geometry.length - 1);
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(pairs_of_bytes_are_fast);
HWY_EXPORT(quads_are_fast);
HWY_EXPORT(bytes_of_term);
HWY_EXPORT(cut_terms);
HWY_EXPORT(multiply_panels);
HWY_EXPORT(gather_strip_bytes);
HWY_EXPORT(pixels_of);
HWY_EXPORT(src_bytes);
HWY_EXPORT(quads_of);
HWY_EXPORT(largest_offset);

bool has_byte_pairs() {
  return HWY_DYNAMIC_DISPATCH(pairs_of_bytes_are_fast)();
}

bool has_byte_quads() {
  return HWY_DYNAMIC_DISPATCH(quads_are_fast)();
}

int64_t byte_term_bytes() {
  return HWY_DYNAMIC_DISPATCH(bytes_of_term)();
}

bool is_byte_shape(const Int8Shape& shape) {
  return !shape.depthwise && shape.depth() > 0;
}

bool cut_byte_terms(const Int8Shape& shape, ByteDot dot, const int8_t* weights,
                    const WeightStrides& strides, int64_t half, ByteTerms& terms) {
  return HWY_DYNAMIC_DISPATCH(cut_terms)(shape, dot, weights, strides, half, terms);
}

Int8Shape with_packed_groups(const Int8Shape& shape) {
  const int64_t columns = widened_columns();
  if (shape.depthwise || shape.oc % 4 != 0 || columns % shape.oc != 0) return shape;
  const int64_t packed = columns / shape.oc;
  if (shape.groups % packed != 0) return shape;
  Int8Shape made = shape;
  made.packed_groups = packed;
  made.groups /= packed;
  made.ic *= packed;
  made.oc *= packed;
  return made;
}

bool may_choose_pairs(const Int8Shape& shape) {
  return !shape.depthwise && (shape.packed_groups == 1 || shape.ic / shape.packed_groups % 4 == 0);
}

int64_t byte_quads(const Int8Shape& shape, ByteDot dot) {
  return HWY_DYNAMIC_DISPATCH(quads_of)(shape, dot);
}

int64_t gathered_bytes(const Int8Shape& shape, ByteDot dot, int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(src_bytes)(shape, dot, rows);
}

int64_t largest_byte_offset(const Int8Shape& shape, ByteDot dot) {
  return HWY_DYNAMIC_DISPATCH(largest_offset)(shape, dot);
}

std::vector<int32_t> byte_pixels(const Int8Shape& shape, ByteDot dot, int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(pixels_of)(shape, dot, rows);
}

const uint8_t* gather_bytes(const Int8Shape& shape, ByteDot dot, const Int8Strip& strip,
                            const std::byte* src, uint8_t* gathered) {
  return HWY_DYNAMIC_DISPATCH(gather_strip_bytes)(shape, dot, strip, src, gathered);
}

void multiply_bytes(const Int8Shape& shape, ByteDot dot, const std::vector<int32_t>& pixels,
                    const Int8Strip& strip, const uint8_t* gathered,
                    std::span<const ByteHalf> halves, int64_t begin, int64_t end,
                    const Int8Tail& tail, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(multiply_panels)
  (shape, dot, pixels, strip, gathered, halves, begin, end, tail, dst);
}

}  // namespace het::cpu
#endif
