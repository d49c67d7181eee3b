#include "inference/preprocess/row_kernels.h"

#include <bit>
#include <cstring>

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
using FloatVec = hn::Vec<Floats>;
using WordVec = hn::Vec<Words>;

HWY_INLINE WordVec gather(const uint8_t* row, const int32_t* offset) {
  return hn::GatherOffset(Words(), reinterpret_cast<const uint32_t*>(row),
                          hn::Load(Ints(), offset));
}

HWY_INLINE WordVec shifts(const int32_t* shift) {
  return hn::BitCast(Words(), hn::Load(Ints(), shift));
}

/// Byte 0 of each word as float.
HWY_INLINE FloatVec low_byte(WordVec word) {
  const WordVec byte = hn::And(word, hn::Set(Words(), 0xffu));
  return hn::ConvertTo(Floats(), hn::BitCast(Ints(), byte));
}

HWY_INLINE FloatVec clamp_pixel(FloatVec value) {
  return hn::Min(hn::Max(value, hn::Zero(Floats())), hn::Set(Floats(), 255.0f));
}

HWY_INLINE FloatVec to_level(FloatVec value) {
  return hn::Round(clamp_pixel(value));
}

using Shorts = hn::Rebind<int16_t, Floats>;

/// mix_row(); its products are whole numbers below 2^24, so floats are exact.
HWY_INLINE void store_mix(FloatVec first, FloatVec second, FloatVec weight, int16_t* out) {
  const FloatVec one = hn::Set(Floats(), static_cast<float>(kWeightOne));
  const FloatVec sum = hn::MulAdd(hn::Sub(second, first), weight, hn::Mul(first, one));
  const auto mixed = hn::ShiftRight<kRowShift>(hn::ConvertTo(Ints(), sum));
  hn::Store(hn::DemoteTo(Shorts(), mixed), Shorts(), out);
}

/// YuvToRgb with the offsets folded: one term per colour, so that each colour is a sum of products.
struct ColorTerms {
  FloatVec luma_scale;
  FloatVec v_to_red, u_to_green, v_to_green, u_to_blue;
  FloatVec red, green, blue;

  explicit ColorTerms(const YuvToRgb& k) {
    const Floats d;
    const float luma = -k.luma_offset * k.luma_scale;
    luma_scale = hn::Set(d, k.luma_scale);
    v_to_red = hn::Set(d, k.v_to_red);
    u_to_green = hn::Set(d, k.u_to_green);
    v_to_green = hn::Set(d, k.v_to_green);
    u_to_blue = hn::Set(d, k.u_to_blue);
    red = hn::Set(d, luma - 128.0f * k.v_to_red);
    green = hn::Set(d, luma - 128.0f * (k.u_to_green + k.v_to_green));
    blue = hn::Set(d, luma - 128.0f * k.u_to_blue);
  }
};

struct Colors {
  FloatVec red, green, blue;
};

HWY_INLINE Colors colors_of(const ColorTerms& k, FloatVec y, FloatVec u, FloatVec v) {
  const FloatVec luma_red = hn::MulAdd(y, k.luma_scale, k.red);
  const FloatVec luma_green = hn::MulAdd(y, k.luma_scale, k.green);
  const FloatVec luma_blue = hn::MulAdd(y, k.luma_scale, k.blue);
  return {to_level(hn::MulAdd(v, k.v_to_red, luma_red)),
          to_level(hn::MulAdd(v, k.v_to_green, hn::MulAdd(u, k.u_to_green, luma_green))),
          to_level(hn::MulAdd(u, k.u_to_blue, luma_blue))};
}

HWY_INLINE void store_mix(const Colors& first, const Colors& second, FloatVec weight,
                          const ColorRows& out, int x) {
  store_mix(first.red, second.red, weight, out[0] + x);
  store_mix(first.green, second.green, weight, out[1] + x);
  store_mix(first.blue, second.blue, weight, out[2] + x);
}

int lanes() {
  return static_cast<int>(hn::Lanes(Floats()));
}

void resample_plane_row_simd(const uint8_t* row, const ColumnSamples& samples, const float* weight,
                             int columns, float offset, float scale, int16_t* out) {
  const Floats d;
  const FloatVec gain = hn::Set(d, scale);
  const FloatVec bias = hn::Set(d, -offset * scale);
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec word = gather(row, samples.offset + x);
    const FloatVec first = low_byte(hn::Shr(word, shifts(samples.first_shift + x)));
    const FloatVec second = low_byte(hn::Shr(word, shifts(samples.second_shift + x)));
    store_mix(to_level(hn::MulAdd(first, gain, bias)), to_level(hn::MulAdd(second, gain, bias)),
              hn::Load(d, weight + x), out + x);
  }
}

void resample_nv12_row_simd(const uint8_t* y_row, const uint8_t* uv_row, const ColumnSamples& luma,
                            const ColumnSamples& chroma, const float* weight, int columns,
                            const YuvToRgb& yuv, const ColorRows& out) {
  const ColorTerms terms(yuv);
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec y = gather(y_row, luma.offset + x);
    const WordVec uv = gather(uv_row, chroma.offset + x);
    const WordVec uv0 = hn::Shr(uv, shifts(chroma.first_shift + x));
    const WordVec uv1 = hn::Shr(uv, shifts(chroma.second_shift + x));
    const Colors first = colors_of(terms, low_byte(hn::Shr(y, shifts(luma.first_shift + x))),
                                   low_byte(uv0), low_byte(hn::ShiftRight<8>(uv0)));
    const Colors second = colors_of(terms, low_byte(hn::Shr(y, shifts(luma.second_shift + x))),
                                    low_byte(uv1), low_byte(hn::ShiftRight<8>(uv1)));
    store_mix(first, second, hn::Load(Floats(), weight + x), out, x);
  }
}

void resample_i420_row_simd(const uint8_t* y_row, const uint8_t* u_row, const uint8_t* v_row,
                            const ColumnSamples& luma, const ColumnSamples& chroma,
                            const float* weight, int columns, const YuvToRgb& yuv,
                            const ColorRows& out) {
  const ColorTerms terms(yuv);
  for (int x = 0; x < columns; x += lanes()) {
    const WordVec y = gather(y_row, luma.offset + x);
    const WordVec u = gather(u_row, chroma.offset + x);
    const WordVec v = gather(v_row, chroma.offset + x);
    const WordVec shift0 = shifts(chroma.first_shift + x);
    const WordVec shift1 = shifts(chroma.second_shift + x);
    const Colors first = colors_of(terms, low_byte(hn::Shr(y, shifts(luma.first_shift + x))),
                                   low_byte(hn::Shr(u, shift0)), low_byte(hn::Shr(v, shift0)));
    const Colors second = colors_of(terms, low_byte(hn::Shr(y, shifts(luma.second_shift + x))),
                                    low_byte(hn::Shr(u, shift1)), low_byte(hn::Shr(v, shift1)));
    store_mix(first, second, hn::Load(Floats(), weight + x), out, x);
  }
}

void resample_packed_row_simd(const uint8_t* row, const ColumnPixels& pixels, const float* weight,
                              int columns, const std::array<int, 3>& bit, const ColorRows& out) {
  const Words dw;
  const WordVec red = hn::Set(dw, static_cast<uint32_t>(bit[0]));
  const WordVec green = hn::Set(dw, static_cast<uint32_t>(bit[1]));
  const WordVec blue = hn::Set(dw, static_cast<uint32_t>(bit[2]));
  const auto colors_at = [&](const ColumnSamples& samples, int x) HWY_ATTR {
    const WordVec word = hn::Shr(gather(row, samples.offset + x), shifts(samples.first_shift + x));
    return Colors{low_byte(hn::Shr(word, red)), low_byte(hn::Shr(word, green)),
                  low_byte(hn::Shr(word, blue))};
  };
  for (int x = 0; x < columns; x += lanes()) {
    store_mix(colors_at(pixels.first, x), colors_at(pixels.second, x),
              hn::Load(Floats(), weight + x), out, x);
  }
}

HWY_INLINE FloatVec load_shorts(const int16_t* row) {
  return hn::ConvertTo(Floats(), hn::PromoteTo(Ints(), hn::Load(Shorts(), row)));
}

void gray_of_colors_simd(const ColorRows& rows, int columns) {
  const Floats d;
  const FloatVec red = hn::Set(d, kRedToGray);
  const FloatVec green = hn::Set(d, kGreenToGray);
  const FloatVec blue = hn::Set(d, kBlueToGray);
  for (int x = 0; x < columns; x += lanes()) {
    const FloatVec sum = hn::Mul(load_shorts(rows[2] + x), blue);
    const FloatVec part = hn::MulAdd(load_shorts(rows[1] + x), green, sum);
    const FloatVec gray = hn::MulAdd(load_shorts(rows[0] + x), red, part);
    hn::Store(hn::DemoteTo(Shorts(), hn::NearestInt(gray)), Shorts(), rows[0] + x);
  }
}

void blend_rows_simd(const int16_t* top, const int16_t* bottom, int weight, float gain, float bias,
                     int columns, float* out) {
  static_assert(kColumnShift == 16, "a product's high half");
  const Floats d;
  const Shorts ds;
  const auto w_top = hn::Set(ds, static_cast<int16_t>(kWeightOne - weight));
  const auto w_bottom = hn::Set(ds, static_cast<int16_t>(weight));
  const auto white = hn::Set(ds, int16_t{255});
  const FloatVec a = hn::Set(d, gain);
  const FloatVec b = hn::Set(d, bias);
  int x = 0;
  for (; x + lanes() <= columns; x += lanes()) {
    const auto quarters = hn::Add(hn::MulHigh(hn::Load(ds, top + x), w_top),
                                  hn::MulHigh(hn::Load(ds, bottom + x), w_bottom));
    const auto rounded = hn::ShiftRight<kLevelShift>(hn::Add(quarters, hn::Set(ds, int16_t{2})));
    const auto level = hn::PromoteTo(Ints(), hn::Min(rounded, white));
    hn::StoreU(hn::MulAdd(hn::ConvertTo(d, level), a, b), d, out + x);
  }
  for (; x < columns; ++x) {
    out[x] = static_cast<float>(mix_rows(top[x], bottom[x], weight)) * gain + bias;
  }
}

void to_uint8_row_simd(const float* row, int columns, uint8_t* out) {
  const Floats d;
  const hn::Rebind<uint8_t, Floats> d8;
  for (int x = 0; x < columns; x += lanes()) {
    const auto rounded = hn::NearestInt(clamp_pixel(hn::Load(d, row + x)));
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
HWY_EXPORT(resample_nv12_row_simd);
HWY_EXPORT(resample_i420_row_simd);
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

void resample_plane_row(const uint8_t* row, const ColumnSamples& samples, const float* weight,
                        int columns, float offset, float scale, int16_t* out) {
  HWY_DYNAMIC_DISPATCH(resample_plane_row_simd)
  (row, samples, weight, columns, offset, scale, out);
}

void resample_nv12_row(const uint8_t* y_row, const uint8_t* uv_row, const ColumnSamples& luma,
                       const ColumnSamples& chroma, const float* weight, int columns,
                       const YuvToRgb& yuv, const ColorRows& out) {
  HWY_DYNAMIC_DISPATCH(resample_nv12_row_simd)
  (y_row, uv_row, luma, chroma, weight, columns, yuv, out);
}

void resample_i420_row(const uint8_t* y_row, const uint8_t* u_row, const uint8_t* v_row,
                       const ColumnSamples& luma, const ColumnSamples& chroma, const float* weight,
                       int columns, const YuvToRgb& yuv, const ColorRows& out) {
  HWY_DYNAMIC_DISPATCH(resample_i420_row_simd)
  (y_row, u_row, v_row, luma, chroma, weight, columns, yuv, out);
}

void resample_packed_row(const uint8_t* row, const ColumnPixels& pixels, const float* weight,
                         int columns, const std::array<int, 3>& bit, const ColorRows& out) {
  HWY_DYNAMIC_DISPATCH(resample_packed_row_simd)(row, pixels, weight, columns, bit, out);
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
