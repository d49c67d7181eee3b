#include "plane.h"

#include <cstring>

namespace het::gst {
namespace {

template <size_t kChannels>
void fill_pixels(uint8_t* to, int count, const Samples& samples) {
  for (int i = 0; i < count; ++i, to += kChannels) std::memcpy(to, samples.data(), kChannels);
}

}  // namespace

void fill_row(const Plane& plane, int y, int x_begin, int x_end, const Samples& samples) {
  if (x_begin >= x_end) return;
  uint8_t* const to = plane.at(x_begin, y);
  switch (plane.channels) {
    case 1:
      std::memset(to, samples[0], static_cast<size_t>(x_end - x_begin));
      break;
    case 2:
      fill_pixels<2>(to, x_end - x_begin, samples);
      break;
    case 3:
      fill_pixels<3>(to, x_end - x_begin, samples);
      break;
    default:
      fill_pixels<4>(to, x_end - x_begin, samples);
      break;
  }
}

void fill_rect(const Plane& plane, const Rect& rect, const Samples& samples) {
  if (rect.width <= 0) return;
  for (int y = rect.y; y < rect.y + rect.height; ++y) {
    // Of long rows the first is copied: memcpy is faster than pixels of 3 bytes.
    if (y == rect.y || rect.width < 16) {
      fill_row(plane, y, rect.x, rect.x + rect.width, samples);
    } else {
      std::memcpy(plane.at(rect.x, y), plane.at(rect.x, rect.y),
                  static_cast<size_t>(rect.width) * static_cast<size_t>(plane.channels));
    }
  }
}

}  // namespace het::gst
