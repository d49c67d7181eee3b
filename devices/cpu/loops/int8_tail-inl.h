// Own loops of int8 products: a strip tile by tile, and what is done with the sums of a panel's
// channels. Included by them after hwy/foreach_target.h, once per instruction set.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <hwy/highway.h>

#include "devices/cpu/loops/activation-inl.h"
#include "devices/cpu/loops/extremes-inl.h"
#include "devices/cpu/loops/int8_shape.h"

#if defined(HET_INT8_TAIL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HET_INT8_TAIL_INL_H
#undef HET_INT8_TAIL_INL_H
#else
#define HET_INT8_TAIL_INL_H
#endif

HWY_BEFORE_NAMESPACE();
namespace het::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Sums of a panel's channels: two vectors of them.
using SumTag = hn::CappedTag<int32_t, 16>;
using SumVector = hn::Vec<SumTag>;
using ValueTag = hn::RebindToFloat<SumTag>;
using ValueVector = hn::Vec<ValueTag>;
constexpr int kSumLanes = static_cast<int>(hn::MaxLanes(SumTag()));
constexpr int kColumns = 2 * kSumLanes;

/// The most pixels of a tile.
constexpr int kTilePixels = 14;

/// A tile of neighbouring pixels: where each begins in the gathered source.
template <class Value>
struct Int8Tile {
  const Value* pixels[kTilePixels];
};

/// A strip's gathered source, and where its pixels begin there.
template <class Value>
struct Int8Source {
  const Value* values;
  const std::vector<int32_t>* pixels;
};

/// Two neighbouring 16-bit values for each sum.
#if HWY_TARGET == HWY_SCALAR
struct WideVector {
  int16_t first, second;
};
#else
using WideTag = hn::Repartition<int16_t, SumTag>;
using WideVector = hn::Vec<WideTag>;
#endif

/// The channel of a panel whose sum is lane `i` of half `half`: blocks of 16 bytes alternate, so
/// that both narrowing two vectors into one and interleaving two give the order of the channels.
constexpr int64_t interleaved_channel(int64_t half, int64_t i) {
  if (kSumLanes < 4) return half;
  return i / 4 * 8 + half * 4 + i % 4;
}

HWY_INLINE int64_t group_panels(const Int8Shape& shape) {
  return (shape.oc + kColumns - 1) / kColumns;
}

HWY_INLINE int64_t group_channel(int64_t panel, int64_t lane) {
  return panel * kColumns + interleaved_channel(lane / kSumLanes, lane % kSumLanes);
}

/// The two vectors of a pixel, in the order of interleaved_channel().
struct PixelValues {
  ValueVector halves[2];
};

/// The two vectors of a pixel in the order of its channels. D: of 32-bit lanes.
template <class D, class Vector>
HWY_INLINE void store_interleaved([[maybe_unused]] D d, Vector first, Vector second,
                                  hn::TFromD<D>* to) {
#if HWY_TARGET == HWY_AVX2
  hn::StoreU(hn::ConcatLowerLower(d, second, first), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, second, first), d, to + kSumLanes);
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  const SumTag whole;
  const __m512i a = hn::BitCast(whole, first).raw;
  const __m512i b = hn::BitCast(whole, second).raw;
  // Blocks of four lanes alternate.
  const __m512i low = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
  const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
  _mm512_storeu_si512(to, _mm512_permutex2var_epi32(a, low, b));
  _mm512_storeu_si512(to + kSumLanes, _mm512_permutex2var_epi32(a, high, b));
#else
  HWY_ALIGN hn::TFromD<D> halves[2][kSumLanes];
  hn::Store(first, d, halves[0]);
  hn::Store(second, d, halves[1]);
  for (int64_t lane = 0; lane < kColumns; ++lane) {
    to[interleaved_channel(lane / kSumLanes, lane % kSumLanes)] =
        halves[lane / kSumLanes][lane % kSumLanes];
  }
#endif
}

#if HWY_TARGET == HWY_SCALAR
template <class T>
PixelValues load_pixel(const T* from) {
  const ValueTag d;
  return {{hn::Set(d, static_cast<float>(from[0])), hn::Set(d, static_cast<float>(from[1]))}};
}
template <class T>
void store_pixel(const PixelValues& pixel, T* to) {
  for (int half = 0; half < 2; ++half) {
    float value = hn::GetLane(pixel.halves[half]);
    if constexpr (!std::is_same_v<T, float>) {
      value = std::nearbyint(
          std::clamp<float>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
    to[half] = static_cast<T>(value);
  }
}
#else
template <class T>
HWY_INLINE PixelValues load_pixel(const T* from) {
  const ValueTag d;
  if constexpr (std::is_same_v<T, float>) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
    const auto first = hn::LoadU(d, from).raw;
    const auto second = hn::LoadU(d, from + kSumLanes).raw;
    return {{ValueVector{_mm512_shuffle_f32x4(first, second, 0x88)},
             ValueVector{_mm512_shuffle_f32x4(first, second, 0xDD)}}};
#else
    HWY_ALIGN float halves[2][kSumLanes];
    for (int64_t lane = 0; lane < kColumns; ++lane) {
      halves[lane / kSumLanes][lane % kSumLanes] =
          from[interleaved_channel(lane / kSumLanes, lane % kSumLanes)];
    }
    return {{hn::Load(d, halves[0]), hn::Load(d, halves[1])}};
#endif
  } else {
    const WideTag wide;
    const SumTag sum;
    const auto values = hn::PromoteTo(wide, hn::LoadU(hn::Rebind<T, WideTag>(), from));
    const auto zero = hn::Zero(wide);
    const auto widened = [&](auto upper) HWY_ATTR {
      return hn::ConvertTo(d, hn::ShiftRight<16>(hn::BitCast(sum, upper)));
    };
    return {{widened(hn::InterleaveLower(wide, zero, values)),
             widened(hn::InterleaveUpper(wide, zero, values))}};
  }
}

/// Of values below 2^31; beyond -2^31 the least.
HWY_INLINE SumVector nearest(ValueVector values) {
#if HWY_TARGET == HWY_AVX2
  return SumVector{_mm256_cvtps_epi32(values.raw)};
#else
  return hn::NearestInt(values);
#endif
}

template <class T>
HWY_INLINE void store_pixel(const PixelValues& pixel, T* to) {
  const ValueTag d;
  if constexpr (std::is_same_v<T, float>) {
    store_interleaved(d, pixel.halves[0], pixel.halves[1], to);
  } else {
    // Beyond 32 bits there would be no number; narrowing saturates the rest.
    const auto most = hn::Set(d, 32767.0f);
    const hn::Rebind<T, WideTag> bytes;
    const auto whole = hn::ReorderDemote2To(WideTag(), nearest(hn::Min(pixel.halves[0], most)),
                                            nearest(hn::Min(pixel.halves[1], most)));
    hn::StoreU(hn::DemoteTo(bytes, whole), bytes, to);
  }
}
#endif

/// All but Sum.
HWY_INLINE ValueVector apply_tail_op(const PostOp& op, ValueVector x) {
  const ValueTag d;
  const auto zero = hn::Zero(d);
  const auto alpha = hn::Set(d, op.alpha);
  switch (op.kind) {
    case PostOp::Kind::Relu:
      return hn::IfThenElse(hn::Lt(x, zero), hn::Mul(x, alpha), x);
    case PostOp::Kind::Clip:
      return clamped(x, alpha, hn::Set(d, op.beta));
    case PostOp::Kind::Linear:
      return hn::MulAdd(x, alpha, hn::Set(d, op.beta));
    case PostOp::Kind::Sigmoid:
      return fast_sigmoid<Accuracy::Float32>(d, x);
    case PostOp::Kind::Tanh:
      return fast_tanh<Accuracy::Float32>(d, x);
    case PostOp::Kind::Swish:
      return fast_swish<Accuracy::Float32>(d, x, op.alpha);
    case PostOp::Kind::GeluErf:
      return fast_gelu_erf<Accuracy::Float32>(d, x);
    case PostOp::Kind::GeluTanh:
      return fast_gelu_tanh<Accuracy::Float32>(d, x);
    case PostOp::Kind::HardSwish: {
      const auto gate = hn::MulAdd(x, hn::Set(d, 1.0f / 6.0f), hn::Set(d, 0.5f));
      return hn::Mul(x, clamped(gate, zero, hn::Set(d, 1.0f)));
    }
    case PostOp::Kind::Round:
      return hn::Round(x);
    default:  // is_int8_tail_op() has refused it
      return x;
  }
}

/// Copies less than kColumns values, by two moves of fixed size that may overlap.
template <int kCount = kColumns / 2, class T>
HWY_INLINE void copy_columns(const T* from, int64_t columns, T* to) {
  if constexpr (kCount > 1) {
    if (columns < kCount) return copy_columns<kCount / 2>(from, columns, to);
  }
  constexpr size_t kBytes = kCount * sizeof(T);
  std::memcpy(to, from, kBytes);
  std::memcpy(to + columns - kCount, from + columns - kCount, kBytes);
}

/// Where the results of a panel go to, and what is done to its sums.
template <class T>
struct PanelResults {
  PanelResults() = default;
  PanelResults(const Int8Shape& shape, const Int8Strip& strip, int64_t panel, const Int8Tail& tail,
               T* to)
      : ops(tail.ops), channels(shape.groups * shape.oc) {
    const int64_t first = panel * kColumns;
    columns = std::min<int64_t>(kColumns, shape.oc - first);
    const int64_t padded = (strip.group * group_panels(shape) + panel) * kColumns;
    scales = tail.scales + padded;
    bias = tail.bias + padded;
    if (tail.factors != nullptr) {
      factors = tail.factors + padded;
      zeros = tail.zeros + padded;
    }
    const int64_t pixel = shape.dst_pixel(strip.n, strip.first_row, 0);
    const int64_t corner = pixel * channels + strip.group * shape.oc + first;
    dst = to + corner;
    if (tail.addend != nullptr) addend = reinterpret_cast<const T*>(tail.addend) + corner;
  }

  const float* scales;
  const float* bias;
  const float* factors = nullptr;
  const float* zeros = nullptr;
  const std::vector<PostOp>* ops;
  int64_t channels;           ///< of a pixel
  int64_t columns;            ///< of the panel that are there; others are neither read nor written
  const T* addend = nullptr;  ///< of the strip's first pixel, as dst
  T* dst;
};

/// The results of a pixel of the strip, of both halves of its sums.
template <class T>
HWY_INLINE void finish_pixel(SumVector first, SumVector second, const PanelResults<T>& results,
                             int64_t pixel) {
  const ValueTag d;
  const auto scaled = [&](SumVector sums, int half) HWY_ATTR {
    return hn::MulAdd(hn::ConvertTo(d, sums), hn::LoadU(d, results.scales + half * kSumLanes),
                      hn::LoadU(d, results.bias + half * kSumLanes));
  };
  // An implicit constructor would not be compiled for the instruction set.
  PixelValues values = {{scaled(first, 0), scaled(second, 1)}};
  HWY_ALIGN T part[kColumns];
  const bool is_whole = results.columns == kColumns;
  for (const PostOp& op : *results.ops) {
    if (op.kind != PostOp::Kind::Sum) {
      for (ValueVector& value : values.halves) value = apply_tail_op(op, value);
      continue;
    }
    const T* from = results.addend + pixel * results.channels;
    if (!is_whole) {
      copy_columns(from, results.columns, part);
      from = part;
    }
    const PixelValues added = load_pixel(from);
    for (int half = 0; half < 2; ++half) {
      values.halves[half] = hn::MulAdd(hn::Sub(added.halves[half], hn::Set(d, op.beta)),
                                       hn::Set(d, op.alpha), values.halves[half]);
    }
  }
  if (results.factors != nullptr) {
    for (int half = 0; half < 2; ++half) {
      values.halves[half] =
          hn::MulAdd(values.halves[half], hn::LoadU(d, results.factors + half * kSumLanes),
                     hn::LoadU(d, results.zeros + half * kSumLanes));
    }
  }
  T* const to = results.dst + pixel * results.channels;
  if (is_whole) return store_pixel(values, to);
  store_pixel(values, part);
  copy_columns(part, results.columns, to);
}

HWY_INLINE void store_sums(SumVector first, SumVector second, int32_t* to) {
  store_interleaved(SumTag(), first, second, to);
}

/// The sums themselves.
HWY_INLINE void finish_pixel(SumVector first, SumVector second,
                             const PanelResults<int32_t>& results, int64_t pixel) {
  int32_t* const to = results.dst + pixel * results.channels;
  if (results.columns == kColumns) return store_sums(first, second, to);
  HWY_ALIGN int32_t part[kColumns];
  store_sums(first, second, part);
  copy_columns(part, results.columns, to);
}

/// In which order the tiles of a strip are computed.
struct TileOrder {
  static constexpr int64_t kMostTogether = 64;

  int64_t most;          ///< pixels of a tile
  int64_t together = 1;  ///< panels for each of which a tile is computed before the next tile
};

/// The results of a strip in panels [begin, end) of its group, tile by tile. begin_panel(panel,
/// tiles) is called before those of the first of each `together` panels; sum(panel, tile, pixels,
/// sums) stores the sums of one, [pixel][column].
template <class T, class Value, class Begin, class Sum>
void compute_strip(const Int8Shape& shape, const Int8Strip& strip, const Int8Source<Value>& source,
                   int64_t begin, int64_t end, const Int8Tail& tail, const TileOrder& order,
                   const Begin& begin_panel, const Sum& sum, T* dst) {
  const SumTag d;
  const int64_t pixels = strip.rows * shape.ow;
  // Spread evenly: short tiles waste loads of weights.
  const int64_t tiles = (pixels + order.most - 1) / order.most;
  const int64_t of_each = pixels / std::max<int64_t>(tiles, 1);
  const int64_t longer = pixels - tiles * of_each;
  HWY_ALIGN int32_t sums[kTilePixels * kColumns];
  std::array<PanelResults<T>, TileOrder::kMostTogether> results;
  for (int64_t first = begin; first < end; first += order.together) {
    const int64_t last = std::min(first + order.together, end);
    begin_panel(first, tiles);
    for (int64_t panel = first; panel < last; ++panel) {
      results[static_cast<size_t>(panel - first)] = {shape, strip, panel, tail, dst};
    }
    int64_t pixel = 0;
    // Between the last pixel of a row of the result and the first of the next.
    const int64_t gap = shape.dst_rows == 0 ? 0 : shape.dst_columns - shape.ow;
    int64_t left_of_row = shape.ow;
    int64_t place = 0;
    int64_t places[kTilePixels];
    for (int64_t t = 0; t < tiles; ++t) {
      const int64_t used = of_each + (t < longer ? 1 : 0);
      Int8Tile<Value> tile;
      for (int64_t r = 0; r < used; ++r) {
        tile.pixels[r] = source.values + (*source.pixels)[static_cast<size_t>(pixel + r)];
        places[r] = place++;
        if (--left_of_row == 0) {
          place += gap;
          left_of_row = shape.ow;
        }
      }
      for (int64_t panel = first; panel < last; ++panel) {
        sum(panel, tile, used, sums);
        const PanelResults<T>& of_panel = results[static_cast<size_t>(panel - first)];
        for (int64_t r = 0; r < used; ++r) {
          const int32_t* const of_pixel = sums + r * kColumns;
          finish_pixel(hn::Load(d, of_pixel), hn::Load(d, of_pixel + kSumLanes), of_panel,
                       places[r]);
        }
      }
      pixel += used;
    }
  }
}

/// Calls f with dst as an array of its element type.
template <class F>
void as_results(ElementType type, std::byte* dst, const F& f) {
  if (type == ElementType::Float32) {
    f(reinterpret_cast<float*>(dst));
  } else if (type == ElementType::Int32) {
    f(reinterpret_cast<int32_t*>(dst));
  } else if (type == ElementType::Int8) {
    f(reinterpret_cast<int8_t*>(dst));
  } else {
    f(reinterpret_cast<uint8_t*>(dst));
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace het::cpu
HWY_AFTER_NAMESPACE();

#endif  // HET_INT8_TAIL_INL_H
