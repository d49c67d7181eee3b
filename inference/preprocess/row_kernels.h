#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "inference/preprocess/yuv_to_rgb.h"

namespace het::preprocess_internal {

/// Column tables and rows of resampled pixels are padded to a multiple of this many entries, so
/// that the kernels work on whole vectors of any width up to it.
inline constexpr int kColumnBlock = 64;

/// For each target column: where its two samples are in a source row. A row is read in 32-bit
/// words (little endian) that never leave it, at byte `offset`; `pick` puts the samples' first
/// bytes into the word's two halves (indices of bytes in a block of four words, 0x80 for zero).
struct ColumnSamples {
  const int32_t* offset = nullptr;
  const int32_t* pick = nullptr;
};

/// The same for samples of 3 or 4 bytes: each has a word of its own, from bit `shift` on.
struct ColumnPixels {
  const int32_t* first_offset = nullptr;
  const int32_t* first_shift = nullptr;
  const int32_t* second_offset = nullptr;
  const int32_t* second_shift = nullptr;
};

/// Red, green and blue rows of interpolated pixels, in 128ths of a level.
using ColorRows = std::array<int16_t*, 3>;

/// False on machines older than every instruction set that the kernels were built for.
bool row_kernels_supported();

// All kernels: `columns` is a multiple of kColumnBlock unless stated; `weights` are those of both
// samples per column, the first one's in the low half (axis_sample.h has the arithmetic);
// vectorised along the row, one row a call. Thread-safe.

/// One byte per pixel, interpolated.
void resample_plane_row(const uint8_t* row, const ColumnSamples& samples, const int32_t* weights,
                        int columns, int16_t* out);

/// Luma as gray levels, interpolated.
void resample_luma_row(const uint8_t* row, const ColumnSamples& samples, const int32_t* weights,
                       int columns, const YuvToRgb& yuv, int16_t* out);

/// Y and interleaved UV rows to colours; colours become levels before interpolation.
void resample_nv12_row(const uint8_t* y_row, const uint8_t* uv_row, const ColumnSamples& luma,
                       const ColumnSamples& chroma, const int32_t* weights, int columns,
                       const YuvToRgb& yuv, const ColorRows& out);

/// The same with U and V in rows of their own.
void resample_i420_row(const uint8_t* y_row, const uint8_t* u_row, const uint8_t* v_row,
                       const ColumnSamples& luma, const ColumnSamples& chroma,
                       const int32_t* weights, int columns, const YuvToRgb& yuv,
                       const ColorRows& out);

/// 16-bit little-endian samples rounded to their upper byte (at most 255); any number of samples.
void round_to_bytes_row(const uint8_t* row, int samples, uint8_t* out);

/// Takes pairs of bytes apart; any number of pairs.
void split_pairs_row(const uint8_t* row, int pairs, uint8_t* first, uint8_t* second);

/// Packed pixels of 3 or 4 bytes; `bit` is where each colour starts in a pixel.
void resample_packed_row(const uint8_t* row, const ColumnPixels& pixels, const int32_t* weights,
                         int columns, const std::array<int, 3>& bit, const ColorRows& out);

/// Colours to gray, in place of red.
void gray_of_colors(const ColorRows& rows, int columns);

/// out = level * gain + bias, the level between two rows of 128ths (mix_rows()); `columns` may be
/// any number and `out` needs no alignment or padding.
void blend_rows(const int16_t* top, const int16_t* bottom, int weight, float gain, float bias,
                int columns, float* out);

/// Floats to other types; `columns` as padded, `out` padded too. UInt8 is rounded (half to even)
/// and clamped; the 16-bit floats are rounded to nearest even.
void to_uint8_row(const float* row, int columns, uint8_t* out);
void to_float16_row(const float* row, int columns, uint16_t* out);
void to_bfloat16_row(const float* row, int columns, uint16_t* out);

/// Interleaves three rows of elements of 1, 2, 4 or 8 bytes; `columns` may be any number, `out`
/// needs no padding.
void interleave_rows(const std::array<const std::byte*, 3>& rows, size_t element_bytes, int columns,
                     std::byte* out);

}  // namespace het::preprocess_internal
