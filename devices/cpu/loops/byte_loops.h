#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace het::cpu {

/// Loops over quantised values, vectorised for the processor they run on. `is_signed`: int8, else
/// uint8. Rounding is to nearest, halves to even; NaN counts as 0.

struct ByteScale {
  float scale = 1.0f;
  float zero = 0.0f;
  bool is_signed = false;
};

/// A scale and a zero point for each channel. Behind the last the first ones are repeated, so that
/// vectors may begin anywhere.
struct ChannelSteps {
  ChannelSteps() = default;
  /// `channel_zeros`: one, or one for each channel.
  ChannelSteps(std::span<const float> channel_scales, std::span<const float> channel_zeros,
               bool is_signed);

  size_t channels = 0;
  std::vector<float> scales;
  std::vector<float> inverses;
  std::vector<float> zeros;
  bool divides = false;  ///< some scale has no finite inverse
  bool is_signed = false;
};

/// dst = round(src / scale) + zero, saturated.
void quantise_row(const float* src, const ByteScale& scale, size_t count, std::byte* dst);
/// The same for rows of channels, `count` values in all.
void quantise_channels(const float* src, const ChannelSteps& steps, size_t count, std::byte* dst);
/// dst = (src - zero) * scale.
void dequantise_row(const std::byte* src, const ByteScale& scale, size_t count, float* dst);
/// dst = quantise(dequantise(a) + dequantise(b)).
void add_rows(const std::byte* a, const ByteScale& a_scale, const std::byte* b,
              const ByteScale& b_scale, const ByteScale& dst_scale, size_t count, std::byte* dst);
/// dst = quantise(dequantise(src) * gate of the channel), `rows` rows of channels.
void gate_rows(const std::byte* src, const ByteScale& scale, const float* gates,
               const ByteScale& dst_scale, size_t channels, size_t rows, std::byte* dst);
/// dst = dequantise(mean of each channel) of `rows` rows, `step` bytes from one to the next; up to
/// kMostMeanRows of them.
inline constexpr size_t kMostMeanRows = size_t{1} << 23;
void mean_rows(const std::byte* src, const ByteScale& scale, size_t channels, size_t step,
               size_t rows, float* dst);

}  // namespace het::cpu
