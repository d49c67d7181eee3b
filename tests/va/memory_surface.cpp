#include "tests/va/memory_surface.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace het::va_test {
namespace {

struct Rgb {
  double r, g, b;
};

uint32_t aligned(int bytes) {
  return static_cast<uint32_t>((bytes + kRowAlignment - 1) / kRowAlignment * kRowAlignment);
}

double sample(const MemorySurface& s, size_t plane, int byte, int row) {
  return s.bytes[s.layout.offset[plane] + static_cast<size_t>(row) * s.layout.pitch[plane] +
                 static_cast<size_t>(byte)];
}

uint8_t level(double value) {
  return static_cast<uint8_t>(std::clamp(std::round(value), 0.0, 255.0));
}

Rgb pixel(const MemorySurface& s, int x, int y, const Colors& colors) {
  x = std::clamp(x, 0, s.width - 1);
  y = std::clamp(y, 0, s.height - 1);
  if (s.fourcc == VA_FOURCC_RGBP) {
    return {sample(s, 0, x, y), sample(s, 1, x, y), sample(s, 2, x, y)};
  }
  if (s.fourcc == VA_FOURCC_BGRX) {
    return {sample(s, 0, 4 * x + 2, y), sample(s, 0, 4 * x + 1, y), sample(s, 0, 4 * x, y)};
  }
  const double low = colors.is_full_range ? 0.0 : 16.0;
  const double luma = (sample(s, 0, x, y) - low) / (colors.is_full_range ? 255.0 : 219.0);
  const double spread = colors.is_full_range ? 255.0 : 224.0;
  const double cb = (sample(s, 1, x / 2 * 2, y / 2) - 128.0) / spread;
  const double cr = (sample(s, 1, x / 2 * 2 + 1, y / 2) - 128.0) / spread;
  const double kr = colors.is_bt709 ? 0.2126 : 0.299;
  const double kb = colors.is_bt709 ? 0.0722 : 0.114;
  const double red = luma + 2 * (1 - kr) * cr;
  const double blue = luma + 2 * (1 - kb) * cb;
  const double green = (luma - kr * red - kb * blue) / (1 - kr - kb);
  const auto bounded = [](double v) { return 255.0 * std::clamp(v, 0.0, 1.0); };
  return {bounded(red), bounded(green), bounded(blue)};
}

void put(MemorySurface& s, int x, int y, const Rgb& color) {
  const auto at = [&](size_t plane, int byte, int row) -> uint8_t& {
    return s.bytes[s.layout.offset[plane] + static_cast<size_t>(row) * s.layout.pitch[plane] +
                   static_cast<size_t>(byte)];
  };
  if (s.fourcc == VA_FOURCC_RGBP) {
    at(0, x, y) = level(color.r);
    at(1, x, y) = level(color.g);
    at(2, x, y) = level(color.b);
  } else if (s.fourcc == VA_FOURCC_BGRX) {
    at(0, 4 * x, y) = level(color.b);
    at(0, 4 * x + 1, y) = level(color.g);
    at(0, 4 * x + 2, y) = level(color.r);
    at(0, 4 * x + 3, y) = 255;
  } else {
    const double luma = 0.299 * color.r + 0.587 * color.g + 0.114 * color.b;
    at(0, x, y) = level(16 + luma * 219 / 255);
    at(1, x / 2 * 2, y / 2) = level(128 + (color.b - luma) / 1.772 * 224 / 255);
    at(1, x / 2 * 2 + 1, y / 2) = level(128 + (color.r - luma) / 1.402 * 224 / 255);
  }
}

}  // namespace

PlaneLayout layout_of(uint32_t fourcc, int width, int height) {
  PlaneLayout layout;
  const auto add = [&](int row_bytes, int rows) {
    layout.offset[layout.planes] = layout.size;
    layout.pitch[layout.planes] = aligned(row_bytes);
    layout.size += layout.pitch[layout.planes] * static_cast<uint32_t>(rows);
    ++layout.planes;
  };
  if (fourcc == VA_FOURCC_NV12) {
    add(width, height);
    add((width + 1) / 2 * 2, (height + 1) / 2);
  } else if (fourcc == VA_FOURCC_RGBP) {
    for (int i = 0; i < 3; ++i) add(width, height);
  } else if (fourcc == VA_FOURCC_BGRX) {
    add(4 * width, height);
  }
  return layout;
}

void process(const MemorySurface& from, const VARectangle& source, MemorySurface& to,
             const VARectangle& target, const Colors& colors) {
  const double step_x = static_cast<double>(source.width) / target.width;
  const double step_y = static_cast<double>(source.height) / target.height;
  const auto inside = [](double value, int first, int size) {
    return std::clamp(value, static_cast<double>(first), static_cast<double>(first + size - 1));
  };
  for (int y = 0; y < target.height; ++y) {
    for (int x = 0; x < target.width; ++x) {
      const double fx = inside(source.x + (x + 0.5) * step_x - 0.5, source.x, source.width);
      const double fy = inside(source.y + (y + 0.5) * step_y - 0.5, source.y, source.height);
      const int left = static_cast<int>(fx);
      const int top = static_cast<int>(fy);
      const int right = std::min(left + 1, source.x + source.width - 1);
      const int bottom = std::min(top + 1, source.y + source.height - 1);
      const double wx = fx - left;
      const double wy = fy - top;
      Rgb mixed{};
      for (const auto& [px, py, weight] :
           {std::tuple{left, top, (1 - wx) * (1 - wy)}, std::tuple{right, top, wx * (1 - wy)},
            std::tuple{left, bottom, (1 - wx) * wy}, std::tuple{right, bottom, wx * wy}}) {
        const Rgb color = pixel(from, px, py, colors);
        mixed = {mixed.r + weight * color.r, mixed.g + weight * color.g,
                 mixed.b + weight * color.b};
      }
      put(to, target.x + x, target.y + y, mixed);
    }
  }
}

}  // namespace het::va_test
