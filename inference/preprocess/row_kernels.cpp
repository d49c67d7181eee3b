#include "inference/preprocess/row_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "inference/preprocess/axis_sample.h"

// Small media boxes have SSE4 without AVX2. Asked for SSE4, Highway builds nothing below it:
// row_kernels_supported() guards that.
#define HWY_WANT_SSE4 1
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inference/preprocess/row_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace het::preprocess_internal::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
static_assert(std::endian::native == std::endian::little, "words are taken apart by shifts");

using Floats = hn::ScalableTag<float>;
using Ints = hn::Rebind<int32_t, Floats>;
using Words = hn::Rebind<uint32_t, Floats>;
using Bytes = hn::Repartition<uint8_t, Floats>;
using Halves = hn::Repartition<int16_t, Floats>;  ///< two samples a column
using HalvesU = hn::Repartition<uint16_t, Floats>;
using Shorts = hn::Rebind<int16_t, Floats>;  ///< one value a column
using FloatVec = hn::Vec<Floats>;
using IntVec = hn::Vec<Ints>;
using WordVec = hn::Vec<Words>;
using HalfVec = hn::Vec<Halves>;

int lanes() {
  return static_cast<int>(hn::Lanes(Floats()));
}

HWY_INLINE WordVec gather(const uint8_t* row, const int32_t* offset) {
  return hn::GatherOffset(Words(), reinterpret_cast<const uint32_t*>(row),
                          hn::Load(Ints(), offset));
}

/// The bytes of each word that `pick` names.
HWY_INLINE HalfVec picked(WordVec word, IntVec pick) {
  return hn::BitCast(
      Halves(), hn::TableLookupBytesOr0(hn::BitCast(Bytes(), word), hn::BitCast(Bytes(), pick)));
}

/// `pick` for the high byte of each half: bytes times 256.
HWY_INLINE IntVec times256(IntVec pick) {
  return hn::Or(hn::ShiftLeft<8>(pick), hn::Set(Ints(), 0x80));
}

/// mix_row() of the two samples that each word's halves hold.
HWY_INLINE void store_mix(HalfVec samples, HalfVec weights, int16_t* out) {
#if HWY_ARCH_X86
  // On x86 this adds the products of neighbours, and the second sum stays 0.
  IntVec unused = hn::Zero(Ints());
  const IntVec sum =
      hn::ReorderWidenMulAccumulate(Ints(), samples, weights, hn::Zero(Ints()), unused);
#else
  const auto low = [](HalfVec v) HWY_ATTR {
    return hn::ShiftRight<16>(hn::ShiftLeft<16>(hn::BitCast(Ints(), v)));
  };
  const auto high = [](HalfVec v) HWY_ATTR { return hn::ShiftRight<16>(hn::BitCast(Ints(), v)); };
  const IntVec sum =
      hn::Add(hn::Mul(low(samples), low(weights)), hn::Mul(high(samples), high(weights)));
#endif
  hn::Store(hn::DemoteTo(Shorts(), hn::ShiftRight<kRowShift>(sum)), Shorts(), out);
}

HWY_INLINE HalfVec load_weights(const int32_t* weights) {
  return hn::BitCast(Halves(), hn::Load(Ints(), weights));
}

/// YuvToRgb on samples times 256: the high half of a product takes 2^16 off, MulFixedPoint15 2^15,
/// rounded.
struct ColorTerms {
  hn::Vec<HalvesU> luma_scale;
  HalfVec luma_bias;
  HalfVec v_to_red, u_to_green, v_to_green, u_to_blue;

  explicit ColorTerms(const YuvToRgb& k)
      : luma_scale(hn::Set(HalvesU(), k.luma_scale)),
        luma_bias(hn::Set(Halves(), k.luma_bias)),
        v_to_red(hn::Set(Halves(), k.v_to_red)),
        u_to_green(hn::Set(Halves(), k.u_to_green)),
        v_to_green(hn::Set(Halves(), k.v_to_green)),
        u_to_blue(hn::Set(Halves(), k.u_to_blue)) {}
};

HWY_INLINE HalfVec to_level(HalfVec value) {
  const Halves d;
  const HalfVec whole = hn::ShiftRight<YuvToRgb::kPoint>(value);
  return hn::Min(hn::Max(whole, hn::Zero(d)), hn::Set(d, int16_t{255}));
}

/// Luma with half a level added, from samples times 256.
HWY_INLINE HalfVec luma_of(const ColorTerms& k, HalfVec y) {
  const auto product = hn::MulHigh(hn::BitCast(HalvesU(), y), k.luma_scale);
  return hn::Add(hn::BitCast(Halves(), product), k.luma_bias);
}

/// Stores the colours of Y, U and V samples (times 256), interpolated.
HWY_INLINE void store_colors(const ColorTerms& k, HalfVec y, HalfVec u, HalfVec v, HalfVec weights,
                             const ColorRows& out, int x) {
  const HalfVec sign = hn::Set(Halves(), int16_t{-32768});
  const HalfVec luma = luma_of(k, y);
  const HalfVec cb = hn::Xor(u, sign);  // minus 128
  const HalfVec cr = hn::Xor(v, sign);
  const HalfVec red = hn::MulFixedPoint15(cr, k.v_to_red);
  const HalfVec green =
      hn::Add(hn::MulFixedPoint15(cb, k.u_to_green), hn::MulFixedPoint15(cr, k.v_to_green));
  const HalfVec blue = hn::MulFixedPoint15(cb, k.u_to_blue);
  store_mix(to_level(hn::SaturatedAdd(luma, red)), weights, out[0] + x);
  store_mix(to_level(hn::SaturatedAdd(luma, green)), weights, out[1] + x);
  store_mix(to_level(hn::SaturatedAdd(luma, blue)), weights, out[2] + x);
}

void resample_plane_row_simd(const uint8_t* row, const ColumnSamples& samples,
                             const int32_t* weights, int columns, int16_t* out) {
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec word = gather(row, samples.offset + x);
    store_mix(picked(word, hn::Load(Ints(), samples.pick + x)), load_weights(weights + x), out + x);
  }
}

void resample_luma_row_simd(const uint8_t* row, const ColumnSamples& samples,
                            const int32_t* weights, int columns, const YuvToRgb& yuv,
                            int16_t* out) {
  const ColorTerms terms(yuv);
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec word = gather(row, samples.offset + x);
    const HalfVec y = picked(word, times256(hn::Load(Ints(), samples.pick + x)));
    store_mix(to_level(luma_of(terms, y)), load_weights(weights + x), out + x);
  }
}

void resample_nv12_row_simd(const uint8_t* y_row, const uint8_t* uv_row, const ColumnSamples& luma,
                            const ColumnSamples& chroma, const int32_t* weights, int columns,
                            const YuvToRgb& yuv, const ColorRows& out) {
  const ColorTerms terms(yuv);
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec y = gather(y_row, luma.offset + x);
    const WordVec uv = gather(uv_row, chroma.offset + x);
    const IntVec pick = times256(hn::Load(Ints(), chroma.pick + x));
    store_colors(terms, picked(y, times256(hn::Load(Ints(), luma.pick + x))), picked(uv, pick),
                 picked(hn::ShiftRight<8>(uv), pick), load_weights(weights + x), out, x);
  }
}

void resample_i420_row_simd(const uint8_t* y_row, const uint8_t* u_row, const uint8_t* v_row,
                            const ColumnSamples& luma, const ColumnSamples& chroma,
                            const int32_t* weights, int columns, const YuvToRgb& yuv,
                            const ColorRows& out) {
  const ColorTerms terms(yuv);
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec y = gather(y_row, luma.offset + x);
    const WordVec u = gather(u_row, chroma.offset + x);
    const WordVec v = gather(v_row, chroma.offset + x);
    const IntVec pick = times256(hn::Load(Ints(), chroma.pick + x));
    store_colors(terms, picked(y, times256(hn::Load(Ints(), luma.pick + x))), picked(u, pick),
                 picked(v, pick), load_weights(weights + x), out, x);
  }
}

void resample_packed_row_simd(const uint8_t* row, const ColumnPixels& pixels,
                              const int32_t* weights, int columns, const std::array<int, 3>& bit,
                              const ColorRows& out) {
  const Words d;
  const WordVec byte = hn::Set(d, 0xffu);
  const auto pixel_at = [&](const int32_t* offset, const int32_t* shift) HWY_ATTR {
    return hn::Shr(gather(row, offset), hn::BitCast(Words(), hn::Load(Ints(), shift)));
  };
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec first = pixel_at(pixels.first_offset + x, pixels.first_shift + x);
    const WordVec second = pixel_at(pixels.second_offset + x, pixels.second_shift + x);
    const HalfVec both = load_weights(weights + x);
    for (size_t color = 0; color < 3; ++color) {
      const WordVec shift = hn::Set(d, static_cast<uint32_t>(bit[color]));
      const WordVec low = hn::And(hn::Shr(first, shift), byte);
      const WordVec high = hn::ShiftLeft<16>(hn::And(hn::Shr(second, shift), byte));
      store_mix(hn::BitCast(Halves(), hn::Or(low, high)), both, out[color] + x);
    }
  }
}

void gray_of_colors_simd(const ColorRows& rows, int columns) {
  const Ints d;
  const auto term = [&](int color, int factor, int x) HWY_ATTR {
    return hn::Mul(hn::PromoteTo(d, hn::Load(Shorts(), rows[static_cast<size_t>(color)] + x)),
                   hn::Set(d, factor));
  };
  const IntVec half = hn::Set(d, 1 << (kGrayPoint - 1));
  for (int x = 0; x < columns; x += lanes()) {
    const IntVec sum = hn::Add(hn::Add(term(0, kRedToGray, x), term(1, kGreenToGray, x)),
                               hn::Add(term(2, kBlueToGray, x), half));
    hn::Store(hn::DemoteTo(Shorts(), hn::ShiftRight<kGrayPoint>(sum)), Shorts(), rows[0] + x);
  }
}

void blend_rows_simd(const int16_t* top, const int16_t* bottom, int weight, float gain, float bias,
                     int columns, float* out) {
  static_assert(kColumnShift == 16, "a product's high half");
  const Floats d;
  const Halves dh;
  const HalfVec w_top = hn::Set(dh, static_cast<int16_t>(kWeightOne - weight));
  const HalfVec w_bottom = hn::Set(dh, static_cast<int16_t>(weight));
  const FloatVec a = hn::Set(d, gain);
  const FloatVec b = hn::Set(d, bias);
  const auto put = [&](int x, float* to) HWY_ATTR {
    const HalfVec quarters = hn::Add(hn::MulHigh(hn::Load(dh, top + x), w_top),
                                     hn::MulHigh(hn::Load(dh, bottom + x), w_bottom));
    const HalfVec level =
        hn::Min(hn::ShiftRight<kLevelShift>(hn::Add(quarters, hn::Set(dh, int16_t{2}))),
                hn::Set(dh, int16_t{255}));
    const auto low = hn::ConvertTo(d, hn::PromoteTo(Ints(), hn::LowerHalf(Shorts(), level)));
    const auto high = hn::ConvertTo(d, hn::PromoteTo(Ints(), hn::UpperHalf(Shorts(), level)));
    hn::StoreU(hn::MulAdd(low, a, b), d, to);
    hn::StoreU(hn::MulAdd(high, a, b), d, to + lanes());
  };
  int x = 0;
  for (; x + 2 * lanes() <= columns; x += 2 * lanes()) put(x, out + x);
  if (x == columns) return;
  HWY_ALIGN float rest[2 * hn::MaxLanes(Floats())];  // the rows are padded, `out` is not
  put(x, rest);
  std::copy_n(rest, columns - x, out + x);
}

void to_uint8_row_simd(const float* row, int columns, uint8_t* out) {
  const Floats d;
  const hn::Rebind<uint8_t, Floats> d8;
  for (int x = 0; x < columns; x += lanes()) {
    const FloatVec value = hn::Max(hn::Load(d, row + x), hn::Zero(d));
    const auto rounded = hn::NearestInt(hn::Min(value, hn::Set(d, 255.0f)));
    hn::Store(hn::DemoteTo(d8, rounded), d8, out + x);
  }
}

HWY_INLINE void store_halves(WordVec bits, uint16_t* out) {
  const hn::Rebind<uint16_t, Floats> d16;
  hn::Store(hn::DemoteTo(d16, hn::BitCast(Ints(), bits)), d16, out);
}

/// float_to_half() on vectors: the same rounding, overflow to infinity and subnormals.
void to_float16_row_simd(const float* row, int columns, uint16_t* out) {
  const Floats d;
  const Words dw;
  const auto word = [dw](uint32_t value) HWY_ATTR { return hn::Set(dw, value); };
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec bits = hn::BitCast(dw, hn::Load(d, row + x));
    const WordVec sign = hn::And(hn::ShiftRight<16>(bits), word(0x8000u));
    const WordVec magnitude = hn::And(bits, word(0x7fffffffu));
    const WordVec odd = hn::And(hn::ShiftRight<13>(magnitude), word(1u));
    const WordVec rounded = hn::Add(hn::Add(magnitude, word(0xfffu)), odd);
    const WordVec normal = hn::ShiftRight<13>(hn::Sub(rounded, word(0x38000000u)));
    const FloatVec aligned = hn::Add(hn::BitCast(d, magnitude), hn::Set(d, 0.5f));
    const WordVec subnormal = hn::Sub(hn::BitCast(dw, aligned), word(0x3f000000u));
    // Signed comparisons are right for magnitudes.
    const Ints di;
    const auto as_int = hn::BitCast(di, magnitude);
    const auto is_small = hn::RebindMask(dw, hn::Lt(as_int, hn::Set(di, 0x38800000)));
    const auto is_huge = hn::RebindMask(dw, hn::Gt(as_int, hn::Set(di, 0x477fefff)));
    const WordVec finite = hn::IfThenElse(is_small, subnormal, normal);
    store_halves(hn::Or(hn::IfThenElse(is_huge, word(0x7c00u), finite), sign), out + x);
  }
}

void to_bfloat16_row_simd(const float* row, int columns, uint16_t* out) {
  const Words dw;
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec bits = hn::BitCast(dw, hn::Load(Floats(), row + x));
    const WordVec odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(dw, 1u));
    const WordVec rounded = hn::Add(hn::Add(bits, hn::Set(dw, 0x7fffu)), odd);
    store_halves(hn::ShiftRight<16>(rounded), out + x);
  }
}

void round_to_bytes_row_simd(const uint8_t* row, int samples, uint8_t* out) {
  const hn::ScalableTag<uint16_t> d;
  const hn::Rebind<uint8_t, decltype(d)> bytes;
  const int step = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + step <= samples; x += step) {
    const auto sample = hn::BitCast(d, hn::LoadU(hn::ScalableTag<uint8_t>(), row + 2 * x));
    const auto rounded = hn::ShiftRight<8>(hn::SaturatedAdd(sample, hn::Set(d, uint16_t{128})));
    hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(hn::RebindToSigned<decltype(d)>(), rounded)), bytes,
               out + x);
  }
  for (; x < samples; ++x) {
    const int sample = row[2 * x] | row[2 * x + 1] << 8;
    out[x] = static_cast<uint8_t>(std::min((sample + 128) >> 8, 255));
  }
}

void split_pairs_row_simd(const uint8_t* row, int pairs, uint8_t* first, uint8_t* second) {
  const hn::ScalableTag<uint8_t> d;
  const int step = static_cast<int>(hn::Lanes(d));
  int x = 0;
  for (; x + step <= pairs; x += step) {
    auto a = hn::Zero(d);
    auto b = hn::Zero(d);
    hn::LoadInterleaved2(d, row + 2 * x, a, b);
    hn::StoreU(a, d, first + x);
    hn::StoreU(b, d, second + x);
  }
  for (; x < pairs; ++x) {
    first[x] = row[2 * x];
    second[x] = row[2 * x + 1];
  }
}

template <class Element>
void interleave(const std::array<const std::byte*, 3>& rows, int columns, std::byte* out) {
  const hn::ScalableTag<Element> d;
  const int step = static_cast<int>(hn::Lanes(d));
  const auto* a = reinterpret_cast<const Element*>(rows[0]);
  const auto* b = reinterpret_cast<const Element*>(rows[1]);
  const auto* c = reinterpret_cast<const Element*>(rows[2]);
  auto* to = reinterpret_cast<Element*>(out);
  int x = 0;
  for (; x + step <= columns; x += step) {
    hn::StoreInterleaved3(hn::Load(d, a + x), hn::Load(d, b + x), hn::Load(d, c + x), d,
                          to + 3 * x);
  }
  for (; x < columns; ++x) {
    to[3 * x] = a[x];
    to[3 * x + 1] = b[x];
    to[3 * x + 2] = c[x];
  }
}

void interleave_rows_simd(const std::array<const std::byte*, 3>& rows, size_t element_bytes,
                          int columns, std::byte* out) {
  switch (element_bytes) {
    case 1:
      return interleave<uint8_t>(rows, columns, out);
    case 2:
      return interleave<uint16_t>(rows, columns, out);
    case 4:
      return interleave<uint32_t>(rows, columns, out);
    default:
      return interleave<uint64_t>(rows, columns, out);
  }
}

}  // namespace
}  // namespace het::preprocess_internal::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace het::preprocess_internal {

HWY_EXPORT(resample_plane_row_simd);
HWY_EXPORT(resample_luma_row_simd);
HWY_EXPORT(resample_nv12_row_simd);
HWY_EXPORT(resample_i420_row_simd);
HWY_EXPORT(round_to_bytes_row_simd);
HWY_EXPORT(split_pairs_row_simd);
HWY_EXPORT(resample_packed_row_simd);
HWY_EXPORT(gray_of_colors_simd);
HWY_EXPORT(blend_rows_simd);
HWY_EXPORT(to_uint8_row_simd);
HWY_EXPORT(to_float16_row_simd);
HWY_EXPORT(to_bfloat16_row_simd);
HWY_EXPORT(interleave_rows_simd);

bool row_kernels_supported() {
  static const bool supported = (hwy::SupportedTargets() & HWY_TARGETS) != 0;
  return supported;
}

void resample_plane_row(const uint8_t* row, const ColumnSamples& samples, const int32_t* weights,
                        int columns, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_plane_row_simd)(row, samples, weights, columns, out);
}

void resample_luma_row(const uint8_t* row, const ColumnSamples& samples, const int32_t* weights,
                       int columns, const YuvToRgb& yuv, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_luma_row_simd)(row, samples, weights, columns, yuv, out);
}

void resample_nv12_row(const uint8_t* y_row, const uint8_t* uv_row, const ColumnSamples& luma,
                       const ColumnSamples& chroma, const int32_t* weights, int columns,
                       const YuvToRgb& yuv, const ColorRows& out) {
  HWY_DYNAMIC_DISPATCH(resample_nv12_row_simd)
  (y_row, uv_row, luma, chroma, weights, columns, yuv, out);
}

void resample_i420_row(const uint8_t* y_row, const uint8_t* u_row, const uint8_t* v_row,
                       const ColumnSamples& luma, const ColumnSamples& chroma,
                       const int32_t* weights, int columns, const YuvToRgb& yuv,
                       const ColorRows& out) {
  HWY_DYNAMIC_DISPATCH(resample_i420_row_simd)
  (y_row, u_row, v_row, luma, chroma, weights, columns, yuv, out);
}

void round_to_bytes_row(const uint8_t* row, int samples, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(round_to_bytes_row_simd)(row, samples, out);
}

void split_pairs_row(const uint8_t* row, int pairs, uint8_t* first, uint8_t* second) {
  HWY_DYNAMIC_DISPATCH(split_pairs_row_simd)(row, pairs, first, second);
}

void resample_packed_row(const uint8_t* row, const ColumnPixels& pixels, const int32_t* weights,
                         int columns, const std::array<int, 3>& bit, const ColorRows& out) {
  HWY_DYNAMIC_DISPATCH(resample_packed_row_simd)(row, pixels, weights, columns, bit, out);
}

void gray_of_colors(const ColorRows& rows, int columns) {
  HWY_DYNAMIC_DISPATCH(gray_of_colors_simd)(rows, columns);
}

void blend_rows(const int16_t* top, const int16_t* bottom, int weight, float gain, float bias,
                int columns, float* out) {
  HWY_DYNAMIC_DISPATCH(blend_rows_simd)(top, bottom, weight, gain, bias, columns, out);
}

void to_uint8_row(const float* row, int columns, uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(to_uint8_row_simd)(row, columns, out);
}

void to_float16_row(const float* row, int columns, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(to_float16_row_simd)(row, columns, out);
}

void to_bfloat16_row(const float* row, int columns, uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(to_bfloat16_row_simd)(row, columns, out);
}

void interleave_rows(const std::array<const std::byte*, 3>& rows, size_t element_bytes, int columns,
                     std::byte* out) {
  HWY_DYNAMIC_DISPATCH(interleave_rows_simd)(rows, element_bytes, columns, out);
}

}  // namespace het::preprocess_internal
#endif  // HWY_ONCE
