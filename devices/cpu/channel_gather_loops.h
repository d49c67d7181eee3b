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

}  // namespace het::cpu
