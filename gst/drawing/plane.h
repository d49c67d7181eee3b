#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "inference/tensors/image.h"

namespace het::gst {

/// The samples of one pixel, as many as its plane has channels.
using Samples = std::array<uint8_t, 4>;

/// Bytes of a mapped frame that are drawn on: 1 to 4 interleaved channels of 8 bits.
struct Plane {
  uint8_t* data = nullptr;
  ptrdiff_t stride_bytes = 0;
  int width = 0;
  int height = 0;
  int channels = 1;
  int shift = 0;                    ///< 1: half the coordinates of the frame
  std::array<int, 4> components{};  ///< which of R G B A or Y U V each channel holds

  uint8_t* at(int x, int y) const { return data + y * stride_bytes + ptrdiff_t{x} * channels; }
};

/// Sets the pixels from `x_begin` to before `x_end` of a row; both lie inside the plane.
void fill_row(const Plane& plane, int y, int x_begin, int x_end, const Samples& samples);

/// Sets a rectangle, which lies inside the plane.
void fill_rect(const Plane& plane, const Rect& rect, const Samples& samples);

}  // namespace het::gst
