#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// Most lanes of a vector that the loops take from a block.
inline constexpr size_t kGatherLanes = 16;

/// What one vector of a source gives to a vector of a blocked float result, pixel by pixel.
struct GatherPart {
  const float* src = nullptr;                    ///< the vector at the first pixel
  std::array<int32_t, kGatherLanes> from = {};   ///< per lane of the result: lane of the source
  std::array<int32_t, kGatherLanes> taken = {};  ///< -1 for lanes that come from here, else 0
};

/// Lanes of a vector over blocks of 8 or 16 channels: all of a block, or a part of it.
int64_t gather_lanes(int64_t block);

/// Lanes that come from none of the `count` parts become 0. From pixel to pixel it is `block`
/// floats in every source and in dst.
void gather_vectors(const GatherPart* parts, size_t count, int64_t block, int64_t pixels,
                    float* dst);

/// Rows of channels in turn from two places: dst[2 i] = first[i], dst[2 i + 1] = second[i] for
/// i < pairs. T: uint8_t, uint16_t, uint32_t. The strides are elements from row to row.
template <class T>
struct Interleave {
  const T* first;
  int64_t first_stride;
  const T* second;
  int64_t second_stride;
  int64_t pairs;
  T* dst;
  int64_t dst_stride;
};
void interleave_rows(const Interleave<uint8_t>& work, int64_t rows);
void interleave_rows(const Interleave<uint16_t>& work, int64_t rows);
void interleave_rows(const Interleave<uint32_t>& work, int64_t rows);

/// Every second channel of rows: dst[i] = src[2 i] for i < count; nothing behind the last is read.
template <class T>
struct EverySecond {
  const T* src;
  int64_t src_stride;
  int64_t count;
  T* dst;
  int64_t dst_stride;
};
void pick_every_second(const EverySecond<uint8_t>& work, int64_t rows);
void pick_every_second(const EverySecond<uint16_t>& work, int64_t rows);
void pick_every_second(const EverySecond<uint32_t>& work, int64_t rows);

}  // namespace het::cpu
