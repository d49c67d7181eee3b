#pragma once

#include <va/va.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace het::va_test {

inline constexpr int kRowAlignment = 64;

/// Where the planes of a format lie; images and surfaces share it.
struct PlaneLayout {
  uint32_t planes = 0;
  std::array<uint32_t, 3> offset{};
  std::array<uint32_t, 3> pitch{};
  uint32_t size = 0;
};

/// NV12, RGBP and BGRX; no planes for other formats.
PlaneLayout layout_of(uint32_t fourcc, int width, int height);

/// A surface in ordinary memory.
struct MemorySurface {
  uint32_t fourcc = 0;
  int width = 0;
  int height = 0;
  PlaneLayout layout;
  std::vector<uint8_t> bytes;
  std::function<void()> pending;  ///< what a deferred video processor still has to do
  /// Brings the content of imported memory into `bytes`; empty for the driver's own surfaces.
  std::function<void()> refresh;
};

struct Colors {
  bool is_bt709 = false;
  bool is_full_range = false;
};

/// Scales a part of a surface to a part of another one and converts it, in floating point and by
/// its own formulas, bilinear between the four nearest pixels.
void process(const MemorySurface& from, const VARectangle& source, MemorySurface& to,
             const VARectangle& target, const Colors& colors);

}  // namespace het::va_test
