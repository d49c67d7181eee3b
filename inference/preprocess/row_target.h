#pragma once

#include <array>

#include "inference/preprocess/conversion.h"
#include "inference/preprocess/scratch.h"

namespace het::preprocess_internal {

/// Writes normalised rows and padding into the tensor, whatever its type, layout and strides.
/// Thread-bound.
class RowTarget {
 public:
  static size_t scratch_bytes(const Conversion& conversion);
  RowTarget(const Conversion& conversion, Scratch& scratch);

  /// Blends two resampled rows per channel, normalises them and stores them as row `y` of the
  /// destination rectangle.
  void put(int y, const std::array<const int16_t*, 3>& top,
           const std::array<const int16_t*, 3>& bottom, int weight) const;

  /// Fills everything outside of the destination rectangle.
  void pad(const std::array<float, 3>& pad_value) const;

 private:
  /// How the elements of a row follow each other.
  enum class Order { Planar, Interleaved, Scattered };
  std::byte* encode(const float* values, std::byte* encoded) const;
  void fill(int channel, const Rect& area, const std::byte* element) const;

  const Conversion& conversion_;
  const TargetElements& target_;
  size_t element_bytes_;
  Order order_;
  std::array<float*, 3> values_{};
  std::array<std::byte*, 3> encoded_{};
};

}  // namespace het::preprocess_internal
