#include "devices/cpu/loops/byte_term_loops.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/byte_term_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/int8_tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Bytes of a term, and the sums of neighbouring products that they make for a panel.
constexpr int kQuad = 4;
constexpr int kTermBytes = kQuad * kColumns;
constexpr int kTermPairs = kTermBytes / 2;

/// What pairs of weights may come to: 255 times it fits in 16 bits.
constexpr int kMostOfPair = 128;

/// By how much signed bytes are turned into unsigned ones.
constexpr int kSignedOffset = 128;

/// Pixels of a tile: its sums, the weights of two terms, a vector of ones and two of the source.
#if HWY_TARGET <= HWY_AVX3
constexpr int kBytePixels = 12;
#elif HWY_TARGET == HWY_AVX2
constexpr int kBytePixels = 5;
#else
constexpr int kBytePixels = 4;
#endif

bool bytes_are_fast() {
  return HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2;
}

int64_t bytes_of_term() {
  return kTermBytes;
}

/// What is added to the 16-bit sums of a term at most, over and below 0.
struct PairBounds {
  std::array<uint8_t, kTermPairs> above{}, below{};

  void set(const int8_t* weights) {
    for (size_t k = 0; k < kTermPairs; ++k) {
      const int a = weights[2 * k];
      const int b = weights[2 * k + 1];
      above[k] = static_cast<uint8_t>(std::max(a, 0) + std::max(b, 0));
      below[k] = static_cast<uint8_t>(std::max(-a, 0) + std::max(-b, 0));
    }
  }
  bool fits_with(const PairBounds& other) const {
    int passes = 0;
    for (size_t k = 0; k < kTermPairs; ++k) {
      passes |= static_cast<int>(above[k] > kMostOfPair - other.above[k]) |
                static_cast<int>(below[k] > kMostOfPair - other.below[k]);
    }
    return passes == 0;
  }
};

struct Term {
  int32_t offset;
  std::array<int8_t, kTermBytes> weights;
  PairBounds bounds;
};

/// Moves what pairs of one sign have over kMostOfPair into `rest`. True where there is any.
bool cut_rest(std::array<int8_t, kTermBytes>& weights, std::array<int8_t, kTermBytes>& rest) {
  bool any = false;
  rest.fill(0);
  for (size_t k = 0; k < kTermBytes; k += 2) {
    const int a = weights[k];
    const int b = weights[k + 1];
    if ((a < 0) != (b < 0) || std::abs(a + b) <= kMostOfPair) continue;
    const int over = a > 0 ? a + b - kMostOfPair : a + b + kMostOfPair;
    const size_t larger = std::abs(a) >= std::abs(b) ? k : k + 1;
    weights[larger] = static_cast<int8_t>(weights[larger] - over);
    rest[larger] = static_cast<int8_t>(over);
    any = true;
  }
  return any;
}

/// Terms are tried with so many of those behind them.
constexpr size_t kCandidates = 32;

/// Couples of terms that fit together, first come first served, then the others.
void place_terms(const std::vector<Term>& terms, ByteTerms& placed) {
  std::vector<char> taken(terms.size(), 0);
  const auto place = [&](size_t i) {
    taken[i] = 1;
    placed.offsets.push_back(terms[i].offset);
    placed.weights.insert(placed.weights.end(), terms[i].weights.begin(), terms[i].weights.end());
  };
  for (size_t i = 0; i < terms.size(); ++i) {
    size_t tried = 0;
    for (size_t j = i + 1; taken[i] == 0 && j < terms.size() && tried < kCandidates; ++j) {
      if (taken[j] != 0) continue;
      ++tried;
      if (!terms[i].bounds.fits_with(terms[j].bounds)) continue;
      place(i);
      place(j);
      ++placed.coupled;
    }
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    if (taken[i] == 0) place(i);
  }
}

bool cut_terms(const Int8Shape& shape, const int8_t* weights, const WeightStrides& strides,
               int64_t panel, ByteTerms& placed) {
  const Int8Geometry geometry(shape);
  const int64_t panels = group_panels(shape);
  const int64_t first = panel % panels * kColumns;
  const int64_t columns = std::min<int64_t>(kColumns, shape.oc - first);
  const int8_t* const from = weights + (panel / panels * shape.oc + first) * strides.oc_stride;
  const int64_t inputs = shape.ic / shape.packed_groups;
  const int32_t src_zero = shape.src_zero + (shape.src == ElementType::Int8 ? kSignedOffset : 0);
  placed = {};
  placed.start.assign(kColumns, 0);
  std::vector<Term> terms;
  std::vector<Term> rests;
  for (int64_t run = 0; run < geometry.runs; ++run) {
    for (int64_t k = 0; k < geometry.length; k += kQuad) {
      Term term;
      term.offset = static_cast<int32_t>(geometry.run(shape, run) + k);
      term.weights.fill(0);
      const int64_t bytes = std::min<int64_t>(kQuad, geometry.length - k);
      for (int64_t lane = 0; lane < kColumns; ++lane) {
        const int64_t c = interleaved_channel(lane / kSumLanes, lane % kSumLanes);
        for (int64_t i = 0; c < columns && i < bytes; ++i) {
          const int64_t tap = geometry.dense ? run * shape.kw + (k + i) / inputs : run;
          const int64_t at = c * strides.oc_stride + (k + i) % inputs * strides.ic_stride + tap;
          const int32_t weight = from[at] - shape.weights_zero;
          if (weight != static_cast<int8_t>(weight)) return false;
          term.weights[static_cast<size_t>(lane * kQuad + i)] = static_cast<int8_t>(weight);
          placed.start[static_cast<size_t>(lane)] -= src_zero * weight;
        }
      }
      Term rest;
      rest.offset = term.offset;
      if (cut_rest(term.weights, rest.weights)) {
        rest.bounds.set(rest.weights.data());
        rests.push_back(rest);
      }
      term.bounds.set(term.weights.data());
      terms.push_back(term);
    }
  }
  // Rests are small: they fit together, and with most others.
  rests.insert(rests.end(), terms.begin(), terms.end());
  place_terms(rests, placed);
  return true;
}

/// The source of a panel's packed groups: where those of each four channels begin.
struct QuadSource {
  int64_t blocks[std::max(kColumns / 4, 1)];
};

/// Which source the channels of a panel read.
enum class Groups {
  One,      ///< all channels read the same bytes
  OfEight,  ///< eight channels or a multiple of them: both halves of a panel read the same
  OfFour
};

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_SSE4
HWY_INLINE SumVector load_weights(const int8_t* from) {
  return hn::BitCast(SumTag(), hn::LoadU(hn::Repartition<int8_t, SumTag>(), from));
}
/// bytes[2i] * weights[2i] + bytes[2i + 1] * weights[2i + 1], of unsigned bytes and signed weights.
HWY_INLINE WideVector times_bytes(SumVector bytes, SumVector weights) {
#if HWY_TARGET <= HWY_AVX3
  return WideVector{_mm512_maddubs_epi16(bytes.raw, weights.raw)};
#elif HWY_TARGET == HWY_AVX2
  return WideVector{_mm256_maddubs_epi16(bytes.raw, weights.raw)};
#else
  return WideVector{_mm_maddubs_epi16(bytes.raw, weights.raw)};
#endif
}
HWY_INLINE SumVector add_sums(WideVector wide, SumVector sums) {
  const SumTag d;
  auto unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, wide, hn::Set(WideTag(), int16_t{1}), sums, unused);
}
HWY_INLINE SumVector load_quad(const uint8_t* from) {
  int32_t quad;
  std::memcpy(&quad, from, sizeof(quad));
  return hn::Set(SumTag(), quad);
}

/// Four bytes for each channel of both halves of a panel.
struct QuadPair {
  SumVector halves[2];
};

/// A block of four channels each, see interleaved_channel().
HWY_INLINE SumVector load_blocks(const uint8_t* from, const QuadSource& source, int half) {
  const SumTag d;
#if HWY_TARGET == HWY_AVX2
  const hn::Half<SumTag> d4;
  const auto block = [&](int k) HWY_ATTR {
    int32_t quad;
    std::memcpy(&quad, from + source.blocks[2 * k + half], sizeof(quad));
    return hn::Set(d4, quad);
  };
  return hn::Combine(d, block(1), block(0));
#else
  HWY_ALIGN int32_t quads[kSumLanes];
  for (int i = 0; i < kSumLanes; ++i) {
    std::memcpy(quads + i, from + source.blocks[2 * (i / 4) + half], sizeof(int32_t));
  }
  return hn::Load(d, quads);
#endif
}

template <Groups kGroups>
HWY_INLINE QuadPair load_quads(const uint8_t* from, const QuadSource& source) {
  if constexpr (kGroups == Groups::One) {
    const SumVector quad = load_quad(from);
    return {{quad, quad}};
  } else {
    const SumVector first = load_blocks(from, source, 0);
    if constexpr (kGroups == Groups::OfEight) return {{first, first}};
    return {{first, load_blocks(from, source, 1)}};
  }
}

/// Adds the terms of a panel to the sums of kUsed pixels.
template <Groups kGroups, int kUsed>
HWY_INLINE void add_terms(const BytePanel& panel, const QuadSource& source,
                          const uint8_t* const (&pixels)[kUsed], SumVector (&sums)[kUsed][2]) {
  const int32_t* offset = panel.offsets;
  const int8_t* weights = panel.weights;
  constexpr int kHalf = kTermBytes / 2;
  for (int32_t i = 0; i < panel.coupled; ++i, offset += 2, weights += 2 * kTermBytes) {
    const int64_t first = offset[0];
    const int64_t second = offset[1];
    const SumVector first0 = load_weights(weights);
    const SumVector first1 = load_weights(weights + kHalf);
    const SumVector second0 = load_weights(weights + kTermBytes);
    const SumVector second1 = load_weights(weights + kTermBytes + kHalf);
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      const QuadPair a = load_quads<kGroups>(pixels[r] + first, source);
      const QuadPair b = load_quads<kGroups>(pixels[r] + second, source);
      sums[r][0] = add_sums(
          hn::Add(times_bytes(a.halves[0], first0), times_bytes(b.halves[0], second0)), sums[r][0]);
      sums[r][1] = add_sums(
          hn::Add(times_bytes(a.halves[1], first1), times_bytes(b.halves[1], second1)), sums[r][1]);
    }
  }
  for (int32_t i = 0; i < panel.single; ++i, ++offset, weights += kTermBytes) {
    const SumVector w0 = load_weights(weights);
    const SumVector w1 = load_weights(weights + kHalf);
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) {
      const QuadPair a = load_quads<kGroups>(pixels[r] + *offset, source);
      sums[r][0] = add_sums(times_bytes(a.halves[0], w0), sums[r][0]);
      sums[r][1] = add_sums(times_bytes(a.halves[1], w1), sums[r][1]);
    }
  }
}
#else
/// Without the instruction: to check the others, and never chosen.
int saturated_pair(const uint8_t* bytes, const int8_t* weights) {
  return std::clamp<int>(bytes[0] * weights[0] + bytes[1] * weights[1],
                         std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max());
}
template <Groups kGroups, int kUsed>
void add_terms(const BytePanel& panel, const QuadSource& source,
               const uint8_t* const (&pixels)[kUsed], SumVector (&sums)[kUsed][2]) {
  const SumTag d;
  for (int r = 0; r < kUsed; ++r) {
    HWY_ALIGN int32_t added[kColumns] = {};
    for (int lane = 0; lane < kColumns; ++lane) {
      for (int32_t i = 0; i < 2 * panel.coupled + panel.single; ++i) {
        const int8_t* const weights = panel.weights + i * kTermBytes + lane * kQuad;
        const int64_t channel = interleaved_channel(lane / kSumLanes, lane % kSumLanes);
        const uint8_t* const bytes = pixels[r] + panel.offsets[i] +
                                     (kGroups == Groups::One ? 0 : source.blocks[channel / 4]);
        added[lane] += saturated_pair(bytes, weights) + saturated_pair(bytes + 2, weights + 2);
      }
    }
    sums[r][0] = hn::Add(sums[r][0], hn::Load(d, added));
    sums[r][1] = hn::Add(sums[r][1], hn::Load(d, added + kSumLanes));
  }
}
#endif

/// Sums of kUsed pixels times a panel, [pixel][column].
template <Groups kGroups, int kUsed>
HWY_NOINLINE void sum_bytes(const BytePanel& panel, const QuadSource& source,
                            const uint8_t* const* from, int32_t* dst) {
  const SumTag d;
  SumVector sums[kUsed][2];
  const uint8_t* pixels[kUsed];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
    sums[r][0] = hn::LoadU(d, panel.start);
    sums[r][1] = hn::LoadU(d, panel.start + kSumLanes);
    pixels[r] = from[r];
  }
  add_terms<kGroups>(panel, source, pixels, sums);
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
    hn::StoreU(sums[r][0], d, dst + r * kColumns);
    hn::StoreU(sums[r][1], d, dst + r * kColumns + kSumLanes);
  }
}

template <Groups kGroups, int kMost>
void sum_byte_tile(int64_t pixels, const BytePanel& panel, const QuadSource& source,
                   const uint8_t* const* from, int32_t* dst) {
  if constexpr (kMost > 1) {
    if (pixels < kMost) {
      return sum_byte_tile<kGroups, kMost - 1>(pixels, panel, source, from, dst);
    }
  }
  sum_bytes<kGroups, kMost>(panel, source, from, dst);
}

template <Groups kGroups>
void multiply_groups(const Int8Shape& shape, const std::vector<int32_t>& pixels,
                     const Int8Strip& strip, const uint8_t* gathered,
                     std::span<const BytePanel> panels, int64_t begin, int64_t end,
                     const Int8Tail& tail, std::byte* dst) {
  QuadSource blocks = {};
  for (int64_t k = 0; k < kColumns / 4 && shape.packed_groups > 1; ++k) {
    const int64_t group = 4 * k * shape.packed_groups / shape.oc;
    blocks.blocks[k] = group * (shape.ic / shape.packed_groups);
  }
  const auto begin_panel = [](int64_t, int64_t) {};
  const auto sum = [&](int64_t panel, const Int8Tile<uint8_t>& tile, int64_t used, int32_t* sums)
                       HWY_ATTR {
                         sum_byte_tile<kGroups, kBytePixels>(
                             used, panels[static_cast<size_t>(panel)], blocks, tile.pixels, sums);
                       };
  const Int8Source<uint8_t> source = {gathered, &pixels};
  as_results(shape.dst, dst, [&](auto* results) {
    compute_strip(shape, strip, source, begin, end, tail, kBytePixels, begin_panel, sum, results);
  });
}

void multiply_panels(const Int8Shape& shape, const std::vector<int32_t>& pixels,
                     const Int8Strip& strip, const uint8_t* gathered,
                     std::span<const BytePanel> panels, int64_t begin, int64_t end,
                     const Int8Tail& tail, std::byte* dst) {
  const auto multiply = shape.packed_groups == 1 ? &multiply_groups<Groups::One>
                        : shape.oc / shape.packed_groups % 8 == 0
                            ? &multiply_groups<Groups::OfEight>
                            : &multiply_groups<Groups::OfFour>;
  multiply(shape, pixels, strip, gathered, panels, begin, end, tail, dst);
}

/// Terms that do not read over the end of the source.
bool lies_ready(const Int8Shape& shape) {
  return shape.src == ElementType::UInt8 && Int8Geometry(shape).length % kQuad == 0;
}

HWY_NOINLINE void turn_signs(const uint8_t* from, int64_t count, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = from[i] ^ static_cast<uint8_t>(kSignedOffset);
}

const uint8_t* gather_strip_bytes(const Int8Shape& shape, const Int8Strip& strip,
                                  const std::byte* src, uint8_t* to) {
  const auto* const from = reinterpret_cast<const uint8_t*>(src);
  if (lies_ready(shape)) {
    const uint8_t* const ready = whole_strip(shape, strip, from);
    if (ready != nullptr) return ready;
  }
  if (shape.src == ElementType::Int8) {
    const auto zero = static_cast<uint8_t>(shape.src_zero + kSignedOffset);
    gather_strip(shape, strip, from, zero, kQuad, to, turn_signs);
  } else {
    gather_strip(shape, strip, from, static_cast<uint8_t>(shape.src_zero), kQuad, to,
                 [](const uint8_t* values, int64_t count, uint8_t* copy) {
                   std::copy_n(values, count, copy);
                 });
  }
  return to;
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(bytes_are_fast);
HWY_EXPORT(bytes_of_term);
HWY_EXPORT(cut_terms);
HWY_EXPORT(multiply_panels);
HWY_EXPORT(gather_strip_bytes);

bool has_byte_pairs() {
  return HWY_DYNAMIC_DISPATCH(bytes_are_fast)();
}

int64_t byte_term_bytes() {
  return HWY_DYNAMIC_DISPATCH(bytes_of_term)();
}

bool is_byte_shape(const Int8Shape& shape) {
  return !shape.depthwise;
}

bool cut_byte_terms(const Int8Shape& shape, const int8_t* weights, const WeightStrides& strides,
                    int64_t panel, ByteTerms& terms) {
  return HWY_DYNAMIC_DISPATCH(cut_terms)(shape, weights, strides, panel, terms);
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

int64_t gathered_bytes(const Int8Shape& shape, int64_t rows) {
  const Int8Geometry geometry(shape);
  // The last term may reach further.
  return geometry.across * geometry.down(shape, rows) * shape.ic + 4;
}

int64_t largest_byte_offset(const Int8Shape& shape) {
  const Int8Geometry geometry(shape);
  return geometry.run(shape, geometry.runs - 1) + geometry.length - 1;
}

const uint8_t* gather_bytes(const Int8Shape& shape, const Int8Strip& strip, const std::byte* src,
                            uint8_t* gathered) {
  return HWY_DYNAMIC_DISPATCH(gather_strip_bytes)(shape, strip, src, gathered);
}

void multiply_bytes(const Int8Shape& shape, const std::vector<int32_t>& pixels,
                    const Int8Strip& strip, const uint8_t* gathered,
                    std::span<const BytePanel> panels, int64_t begin, int64_t end,
                    const Int8Tail& tail, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(multiply_panels)
  (shape, pixels, strip, gathered, panels, begin, end, tail, dst);
}

}  // namespace het::cpu
#endif
