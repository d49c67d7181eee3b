#include "devices/cpu/loops/widened_loops.h"

#include <algorithm>
#include <cstring>

// Compiled once per instruction set; the processor's best is chosen at the first call.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "devices/cpu/loops/widened_loops.cpp"
#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include "devices/cpu/loops/int8_tail-inl.h"

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Values of one pair of every channel of a panel.
constexpr int kPairs = 2 * kColumns;

/// Pixels of a tile: its sums, two vectors of weights and one of the source fill the registers.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
constexpr int kPixels = 14;
#elif HWY_TARGET == HWY_AVX2
constexpr int kPixels = 6;
#else
constexpr int kPixels = 4;
#endif

/// With fewer tiles a panel's weights are widened on the way into the registers.
constexpr int64_t kFewTiles = 3;

bool pairs_are_fast() {
  return HWY_TARGET <= HWY_AVX2;
}

int64_t columns_of_panel() {
  return kColumns;
}

#if HWY_TARGET == HWY_SCALAR
SumVector add_pairs(WideVector a, WideVector b, SumVector sums) {
  return hn::Add(sums, hn::Set(SumTag(), a.first * b.first + a.second * b.second));
}
WideVector load_wide(const int16_t* from, int32_t /*zero*/) {
  return {from[0], from[1]};
}
WideVector load_wide(const int8_t* from, int32_t zero) {
  return {static_cast<int16_t>(from[0] - zero), static_cast<int16_t>(from[1] - zero)};
}
WideVector load_pair(const int16_t* from) {
  return load_wide(from, 0);
}
/// to[i] = from[i] - zero.
template <class T>
void widen_values(const T* from, int64_t count, int32_t zero, int16_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
}
#else
/// sums[i] + a[2i] * b[2i] + a[2i + 1] * b[2i + 1].
HWY_INLINE SumVector add_pairs(WideVector a, WideVector b, SumVector sums) {
  const SumTag d;
#if HWY_TARGET <= HWY_SSE4
  auto unused = hn::Zero(d);
  return hn::ReorderWidenMulAccumulate(d, a, b, sums, unused);
#else
  const auto wide_a = hn::BitCast(d, a);
  const auto wide_b = hn::BitCast(d, b);
  const auto even = [](auto v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
  const auto odd = [](auto v) HWY_ATTR { return hn::ShiftRight<16>(v); };
  const auto first = hn::Mul(even(wide_a), even(wide_b));
  return hn::Add(sums, hn::Add(first, hn::Mul(odd(wide_a), odd(wide_b))));
#endif
}
HWY_INLINE WideVector load_wide(const int16_t* from, int32_t /*zero*/) {
  return hn::LoadU(WideTag(), from);
}
HWY_INLINE WideVector load_wide(const int8_t* from, int32_t zero) {
  const WideTag d;
  const hn::Rebind<int8_t, WideTag> bytes;
  return hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, from)), hn::Set(d, static_cast<int16_t>(zero)));
}
HWY_INLINE WideVector load_pair(const int16_t* from) {
  int32_t pair;
  std::memcpy(&pair, from, sizeof(pair));
  return hn::BitCast(WideTag(), hn::Set(SumTag(), pair));
}
/// to[i] = from[i] - zero.
template <class T>
HWY_INLINE void widen_values(const T* from, int64_t count, int32_t zero, int16_t* to) {
  const WideTag d;
  const hn::Rebind<T, WideTag> bytes;
  const auto offset = hn::Set(d, static_cast<int16_t>(zero));
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(WideTag()));
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::Sub(hn::PromoteTo(d, hn::LoadU(bytes, from + i)), offset), d, to + i);
  }
  for (; i < count; ++i) to[i] = static_cast<int16_t>(from[i] - zero);
}
#endif

int64_t panel_values(const Int8Shape& shape) {
  const Int8Geometry geometry(shape);
  return (shape.depthwise ? geometry.tap_pairs : geometry.runs * geometry.pairs) * kPairs;
}

void pack_depthwise_panels(const Int8Shape& shape, const int8_t* weights,
                           const WeightStrides& strides, int64_t begin, int64_t end,
                           int8_t* packed) {
  const int64_t taps = shape.kh * shape.kw;
  for (int64_t panel = begin; panel < end; ++panel) {
    int8_t* to = packed + panel * panel_values(shape);
    for (int64_t tap = 0; tap < taps; tap += 2) {
      for (int64_t c = 0; c < kColumns; ++c) {
        const int64_t channel = group_channel(panel, c);
        for (int64_t k = tap; k < tap + 2; ++k) {
          const bool is_there = channel < shape.oc && k < taps;
          *to++ = static_cast<int8_t>(is_there ? weights[channel * strides.oc_stride + k]
                                               : shape.weights_zero);
        }
      }
    }
  }
}

void pack_panels_of(const Int8Shape& shape, const int8_t* weights, const WeightStrides& strides,
                    int64_t begin, int64_t end, int8_t* packed) {
  if (shape.depthwise) {
    return pack_depthwise_panels(shape, weights, strides, begin, end, packed);
  }
  const Int8Geometry geometry(shape);
  const int64_t panels = group_panels(shape);
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t first = panel % panels * kColumns;
    const int64_t columns = std::min<int64_t>(kColumns, shape.oc - first);
    const int8_t* const from = weights + (panel / panels * shape.oc + first) * strides.oc_stride;
    int8_t* to = packed + panel * panel_values(shape);
    for (int64_t run = 0; run < geometry.runs; ++run) {
      for (int64_t pair = 0; pair < geometry.pairs; ++pair) {
        for (int64_t lane = 0; lane < kColumns; ++lane) {
          const int64_t c = interleaved_channel(lane / kSumLanes, lane % kSumLanes);
          for (int64_t k = 2 * pair; k < 2 * pair + 2; ++k) {
            // What is not there counts nothing: it equals the zero point.
            int64_t value = shape.weights_zero;
            if (c < columns && k < geometry.length) {
              const int64_t tap = geometry.dense ? run * shape.kw + k / shape.ic : run;
              value = from[c * strides.oc_stride + k % shape.ic * strides.ic_stride + tap];
            }
            *to++ = static_cast<int8_t>(value);
          }
        }
      }
    }
  }
}

void place_channels(const Int8Shape& shape, const float* values, float* packed) {
  const int64_t panels = group_panels(shape);
  for (int64_t panel = 0; panel < shape.groups * panels; ++panel) {
    for (int64_t lane = 0; lane < kColumns; ++lane) {
      const int64_t channel = group_channel(panel % panels, lane);
      *packed++ = channel < shape.oc ? values[panel / panels * shape.oc + channel] : 0.0f;
    }
  }
}

WidenedOffsets offsets_of(const Int8Shape& shape, int64_t rows) {
  const Int8Geometry geometry(shape);
  WidenedOffsets offsets;
  for (int64_t y = 0; y < rows; ++y) {
    for (int64_t x = 0; x < shape.ow; ++x) {
      offsets.pixels.push_back(static_cast<int32_t>(geometry.pixel(shape, y, x)));
    }
  }
  for (int64_t run = 0; run < geometry.runs; ++run) {
    offsets.runs.push_back(static_cast<int32_t>(geometry.run(shape, run)));
  }
  // Taps go in pairs; the last one's partner has the weight 0.
  if (shape.depthwise && geometry.runs % 2 != 0) offsets.runs.push_back(offsets.runs.back());
  return offsets;
}

int64_t src_values(const Int8Shape& shape, int64_t rows) {
  const Int8Geometry geometry(shape);
  // The last pair may reach one value further, the last panel of a depthwise one a whole vector.
  return geometry.across * geometry.down(shape, rows) * shape.ic + kColumns;
}

/// Whole pixels, each channel less its zero point.
template <class T>
HWY_INLINE void centre_pixels(const T* from, int64_t count, int64_t channels, const int16_t* zeros,
                              int16_t* to) {
  for (int64_t first = 0; first < count; first += channels) {
    for (int64_t c = 0; c < channels; ++c) {
      to[first + c] = static_cast<int16_t>(from[first + c] - zeros[c]);
    }
  }
}

template <class T>
void widen_strip(const Int8Shape& shape, const Int8Strip& strip, const T* src, int16_t* to,
                 const int16_t* zeros) {
  if (zeros != nullptr) {
    gather_strip(shape, strip, src, GatherFill<int16_t>{0, kColumns}, to,
                 [&](const T* from, int64_t count, int16_t* values)
                     HWY_ATTR { centre_pixels(from, count, shape.ic, zeros, values); });
    return;
  }
  gather_strip(shape, strip, src, GatherFill<int16_t>{0, kColumns}, to,
               [&](const T* from, int64_t count, int16_t* values)
                   HWY_ATTR { widen_values(from, count, shape.src_zero, values); });
}

void widen_strip_of(const Int8Shape& shape, const Int8Strip& strip, const std::byte* src,
                    int16_t* to, const int16_t* zeros) {
  if (shape.src == ElementType::Int8) {
    widen_strip(shape, strip, reinterpret_cast<const int8_t*>(src), to, zeros);
  } else {
    widen_strip(shape, strip, reinterpret_cast<const uint8_t*>(src), to, zeros);
  }
}

/// What a sum runs over.
struct WidenedRuns {
  const std::vector<int32_t>* offsets;
  int64_t pairs;  ///< of each
};

using WidenedTile = Int8Tile<int16_t>;

/// Sums of kUsed pixels times a panel, [pixel][column]. W: int16_t (widened) or int8_t.
template <int kUsed, class W>
HWY_NOINLINE void sum_pixels(const Int8Shape& shape, const WidenedRuns& runs,
                             const WidenedTile& tile, const W* weights, int32_t* dst) {
  const SumTag d;
  SumVector sums[kUsed][2];
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
    sums[r][0] = hn::Zero(d);
    sums[r][1] = hn::Zero(d);
  }
  for (const int32_t offset : *runs.offsets) {
    const int16_t* pixels[kUsed];
#pragma GCC unroll 14
    for (int r = 0; r < kUsed; ++r) pixels[r] = tile.pixels[r] + offset;
#pragma GCC unroll 2
    for (int64_t i = 0; i < 2 * runs.pairs; i += 2) {
      const WideVector w0 = load_wide(weights, shape.weights_zero);
      const WideVector w1 = load_wide(weights + kColumns, shape.weights_zero);
      weights += kPairs;
#pragma GCC unroll 14
      for (int r = 0; r < kUsed; ++r) {
        const WideVector value = load_pair(pixels[r] + i);
        sums[r][0] = add_pairs(value, w0, sums[r][0]);
        sums[r][1] = add_pairs(value, w1, sums[r][1]);
      }
    }
  }
#pragma GCC unroll 14
  for (int r = 0; r < kUsed; ++r) {
    hn::StoreU(sums[r][0], d, dst + r * kColumns);
    hn::StoreU(sums[r][1], d, dst + r * kColumns + kSumLanes);
  }
}

/// Calls sum_pixels() for a number of pixels up to kMost.
template <int kMost, class... Arguments>
HWY_INLINE void sum_tile(int64_t pixels, const Arguments&... arguments) {
  if constexpr (kMost > 1) {
    if (pixels < kMost) return sum_tile<kMost - 1>(pixels, arguments...);
  }
  sum_pixels<kMost>(arguments...);
}

/// Pixels of a tile of a depthwise convolution.
constexpr int kDepthwisePixels = 4;

/// Sums of up to kDepthwisePixels pixels in the panel of a depthwise convolution that begins with
/// `channel`, pairs of taps at a time.
HWY_NOINLINE void sum_depthwise(const std::vector<int32_t>& taps, const int16_t* const* from,
                                int64_t channel, const int16_t* weights, int64_t used,
                                int32_t* dst) {
  const SumTag d;
  SumVector sums[kDepthwisePixels][2];
#pragma GCC unroll 4
  for (int r = 0; r < kDepthwisePixels; ++r) {
    sums[r][0] = hn::Zero(d);
    sums[r][1] = hn::Zero(d);
  }
  const int16_t* pixels[kDepthwisePixels];
  for (int64_t r = 0; r < kDepthwisePixels; ++r) pixels[r] = from[std::min(r, used - 1)] + channel;
  for (size_t tap = 0; tap < taps.size(); tap += 2, weights += kPairs) {
    const int64_t first = taps[tap];
    const int64_t second = taps[tap + 1];
#if HWY_TARGET == HWY_SCALAR
    for (int r = 0; r < kDepthwisePixels; ++r) {
      for (int half = 0; half < 2; ++half) {
        const WideVector pair = {pixels[r][first + half], pixels[r][second + half]};
        sums[r][half] = add_pairs(pair, load_wide(weights + 2 * half, 0), sums[r][half]);
      }
    }
#else
    const WideTag wide;
    const WideVector w0 = load_wide(weights, 0);
    const WideVector w1 = load_wide(weights + kColumns, 0);
#pragma GCC unroll 4
    for (int r = 0; r < kDepthwisePixels; ++r) {
      const WideVector a = hn::LoadU(wide, pixels[r] + first);
      const WideVector b = hn::LoadU(wide, pixels[r] + second);
      sums[r][0] = add_pairs(hn::InterleaveLower(wide, a, b), w0, sums[r][0]);
      sums[r][1] = add_pairs(hn::InterleaveUpper(wide, a, b), w1, sums[r][1]);
    }
#endif
  }
#pragma GCC unroll 4
  for (int r = 0; r < kDepthwisePixels; ++r) {
    hn::StoreU(sums[r][0], d, dst + r * kColumns);
    hn::StoreU(sums[r][1], d, dst + r * kColumns + kSumLanes);
  }
}

void multiply_strip_of(const Int8Shape& shape, const WidenedOffsets& offsets,
                       const Int8Strip& strip, const int16_t* widened, const int8_t* panels,
                       int64_t begin, int64_t end, const Int8Tail& tail, int16_t* weights,
                       std::byte* dst) {
  const WidenedRuns runs = {&offsets.runs, Int8Geometry(shape).pairs};
  const TileOrder order = {shape.depthwise ? kDepthwisePixels : kPixels};
  const int64_t values = panel_values(shape);
  const int8_t* packed = nullptr;
  bool widens = false;
  const auto begin_panel = [&](int64_t panel, int64_t tiles) HWY_ATTR {
    packed = panels + panel * values;
    widens = tiles >= kFewTiles || shape.depthwise;
    if (widens) widen_values(packed, values, shape.weights_zero, weights);
  };
  const auto sum = [&](int64_t panel, const WidenedTile& tile, int64_t used,
                       int32_t* sums) HWY_ATTR {
    if (shape.depthwise) {
      sum_depthwise(offsets.runs, tile.pixels, panel * kColumns, weights, used, sums);
    } else if (widens) {
      sum_tile<kPixels>(used, shape, runs, tile, static_cast<const int16_t*>(weights), sums);
    } else {
      sum_tile<kPixels>(used, shape, runs, tile, packed, sums);
    }
  };
  const Int8Source<int16_t> source = {widened, &offsets.pixels};
  as_results(shape.dst, dst, [&](auto* results) {
    compute_strip(shape, strip, source, begin, end, tail, order, begin_panel, sum, results);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::cpu {

HWY_EXPORT(pairs_are_fast);
HWY_EXPORT(columns_of_panel);
HWY_EXPORT(panel_values);
HWY_EXPORT(pack_panels_of);
HWY_EXPORT(place_channels);
HWY_EXPORT(offsets_of);
HWY_EXPORT(src_values);
HWY_EXPORT(widen_strip_of);
HWY_EXPORT(multiply_strip_of);

bool has_fast_pairs() {
  return HWY_DYNAMIC_DISPATCH(pairs_are_fast)();
}

int64_t widened_columns() {
  return HWY_DYNAMIC_DISPATCH(columns_of_panel)();
}

int64_t widened_panels(const Int8Shape& shape) {
  return shape.groups * ((shape.oc + widened_columns() - 1) / widened_columns());
}

int64_t widened_panel_count(const Int8Shape& shape) {
  return HWY_DYNAMIC_DISPATCH(panel_values)(shape);
}

void pack_widened_weights(const Int8Shape& shape, const int8_t* weights,
                          const WeightStrides& strides, int64_t begin, int64_t end,
                          int8_t* packed) {
  HWY_DYNAMIC_DISPATCH(pack_panels_of)(shape, weights, strides, begin, end, packed);
}

void pack_widened_channels(const Int8Shape& shape, const float* values, float* packed) {
  HWY_DYNAMIC_DISPATCH(place_channels)(shape, values, packed);
}

WidenedOffsets widened_offsets(const Int8Shape& shape, int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(offsets_of)(shape, rows);
}

int64_t widened_src_count(const Int8Shape& shape, int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(src_values)(shape, rows);
}

void widen_src(const Int8Shape& shape, const Int8Strip& strip, const std::byte* src,
               int16_t* widened, const int16_t* zeros) {
  HWY_DYNAMIC_DISPATCH(widen_strip_of)(shape, strip, src, widened, zeros);
}

void multiply_widened(const Int8Shape& shape, const WidenedOffsets& offsets, const Int8Strip& strip,
                      const int16_t* widened, const int8_t* panels, int64_t begin, int64_t end,
                      const Int8Tail& tail, int16_t* weights, std::byte* dst) {
  HWY_DYNAMIC_DISPATCH(multiply_strip_of)
  (shape, offsets, strip, widened, panels, begin, end, tail, weights, dst);
}

}  // namespace het::cpu
#endif
