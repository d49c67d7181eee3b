#include "box_blur.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace het::gst {
namespace {

/// Loops of this many steps become vectors; rows are padded to them.
constexpr size_t kBlock = 16;

size_t padded(size_t count) {
  return (count + kBlock - 1) / kBlock * kBlock;
}

/// sums += entering - leaving
void move_down(uint32_t* __restrict sums, const uint8_t* __restrict entering,
               const uint8_t* __restrict leaving, size_t count) {
  for (size_t i = 0; i < count; i += kBlock) {
    for (size_t k = i; k < i + kBlock; ++k)
      sums[k] += static_cast<uint32_t>(entering[k]) - static_cast<uint32_t>(leaving[k]);
  }
}

void scale(const uint32_t* __restrict sums, float factor, uint8_t* __restrict means, size_t count) {
  for (size_t i = 0; i < count; i += kBlock) {
    for (size_t k = i; k < i + kBlock; ++k) {
      const float mean = static_cast<float>(static_cast<int32_t>(sums[k])) * factor + 0.5f;
      means[k] = static_cast<uint8_t>(static_cast<int32_t>(mean));
    }
  }
}

/// Sums of the columns from x - half to x + half; the first and the last stand for those beyond.
template <ptrdiff_t kChannels>
void slide(const uint32_t* __restrict columns, ptrdiff_t half, uint32_t* __restrict sums,
           ptrdiff_t width) {
  uint32_t sum[kChannels] = {};
  for (ptrdiff_t x = -half; x < half; ++x) {
    const uint32_t* const column = columns + std::clamp<ptrdiff_t>(x, 0, width - 1) * kChannels;
    for (ptrdiff_t c = 0; c < kChannels; ++c) sum[c] += column[c];
  }
  for (ptrdiff_t x = 0; x < width; ++x) {
    const uint32_t* const entering = columns + std::min(x + half, width - 1) * kChannels;
    const uint32_t* const leaving = columns + std::max<ptrdiff_t>(x - half, 0) * kChannels;
    for (ptrdiff_t c = 0; c < kChannels; ++c) {
      sum[c] += entering[c];
      *sums++ = sum[c];
      sum[c] -= leaving[c];
    }
  }
}

void slide(const uint32_t* columns, ptrdiff_t half, uint32_t* sums, ptrdiff_t width, int channels) {
  switch (channels) {
    case 1:
      return slide<1>(columns, half, sums, width);
    case 2:
      return slide<2>(columns, half, sums, width);
    case 3:
      return slide<3>(columns, half, sums, width);
    default:
      return slide<4>(columns, half, sums, width);
  }
}

}  // namespace

void box_blur(const Plane& plane, const Rect& rect, int size) {
  const size_t used = static_cast<size_t>(rect.width) * static_cast<size_t>(plane.channels);
  const size_t row_bytes = padded(used);
  const int half = size / 2;
  const int last = rect.height - 1;
  // Rows as they were before they were written, as many as one mean needs and the one before.
  const int kept = std::min(size + 1, rect.height);
  std::vector<uint8_t> source(row_bytes * static_cast<size_t>(kept));
  const auto source_row = [&](int y) {
    return source.data() + row_bytes * static_cast<size_t>(std::clamp(y, 0, last) % kept);
  };
  const auto keep = [&](int y) {
    if (y <= last) std::memcpy(source_row(y), plane.at(rect.x, rect.y + y), used);
  };
  for (int y = 0; y < half; ++y) keep(y);
  const std::vector<uint8_t> nothing(row_bytes);
  std::vector<uint32_t> columns(row_bytes);
  for (int y = -half; y < half; ++y)
    move_down(columns.data(), source_row(y), nothing.data(), row_bytes);
  std::vector<uint32_t> sums(row_bytes);
  std::vector<uint8_t> means(row_bytes);
  const float factor = 1.0f / (static_cast<float>(size) * static_cast<float>(size));
  for (int y = 0; y < rect.height; ++y) {
    keep(y + half);
    move_down(columns.data(), source_row(y + half),
              y > 0 ? source_row(y - half - 1) : nothing.data(), row_bytes);
    slide(columns.data(), half, sums.data(), rect.width, plane.channels);
    scale(sums.data(), factor, means.data(), row_bytes);
    std::memcpy(plane.at(rect.x, rect.y + y), means.data(), used);
  }
}

}  // namespace het::gst
