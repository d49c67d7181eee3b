#include "canvas.h"

#include <algorithm>
#include <cmath>

#include "box_blur.h"
#include "gst/frames/frame_map.h"

namespace het::gst {
namespace {

constexpr std::array<int, 4> kRgba{0, 1, 2, 3};
constexpr std::array<int, 4> kBgra{2, 1, 0, 3};

LumaWeights weights_of(ColorMatrix matrix) {
  switch (matrix) {
    case ColorMatrix::BT601:
      return {0.299, 0.114};
    case ColorMatrix::BT709:
      return {0.2126, 0.0722};
    case ColorMatrix::BT2020:
      break;
  }
  return {0.2627, 0.0593};
}

double luma(const Rgb& color, const LumaWeights& k) {
  return k.red * color.r + (1.0 - k.red - k.blue) * color.g + k.blue * color.b;
}

}  // namespace

Canvas::Canvas(GstVideoFrame& frame)
    : width_(GST_VIDEO_FRAME_WIDTH(&frame)),
      height_(GST_VIDEO_FRAME_HEIGHT(&frame)),
      yuv_(GST_VIDEO_INFO_IS_YUV(&frame.info) || GST_VIDEO_INFO_IS_GRAY(&frame.info)),
      luma_weights_(weights_of(color_matrix(frame.info))),
      full_range_(color_range(frame.info) == ColorRange::Full) {
  switch (GST_VIDEO_FRAME_FORMAT(&frame)) {
    case GST_VIDEO_FORMAT_RGB:
      add_plane(frame, 0, 3, 0, kRgba);
      break;
    case GST_VIDEO_FORMAT_BGR:
      add_plane(frame, 0, 3, 0, kBgra);
      break;
    case GST_VIDEO_FORMAT_RGBx:
    case GST_VIDEO_FORMAT_RGBA:
      add_plane(frame, 0, 4, 0, kRgba);
      break;
    case GST_VIDEO_FORMAT_BGRx:
    case GST_VIDEO_FORMAT_BGRA:
      add_plane(frame, 0, 4, 0, kBgra);
      break;
    case GST_VIDEO_FORMAT_RGBP:
    case GST_VIDEO_FORMAT_BGRP:
    case GST_VIDEO_FORMAT_GBR:
      for (int color = 0; color < 3; ++color) {
        add_plane(frame, GST_VIDEO_FORMAT_INFO_PLANE(frame.info.finfo, color), 1, 0, {color});
      }
      break;
    case GST_VIDEO_FORMAT_NV12:
      add_plane(frame, 0, 1, 0, {0});
      add_plane(frame, 1, 2, 1, {1, 2});
      break;
    case GST_VIDEO_FORMAT_I420:
      add_plane(frame, 0, 1, 0, {0});
      add_plane(frame, 1, 1, 1, {1});
      add_plane(frame, 2, 1, 1, {2});
      break;
    default:
      add_plane(frame, 0, 1, 0, {0});
      break;
  }
}

void Canvas::add_plane(GstVideoFrame& frame, int index, int channels, int shift,
                       std::array<int, 4> components) {
  const int round = (1 << shift) - 1;
  planes_.push_back({static_cast<uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, index)),
                     GST_VIDEO_FRAME_PLANE_STRIDE(&frame, index), (width_ + round) >> shift,
                     (height_ + round) >> shift, channels, shift, components});
}

std::array<double, 4> Canvas::components_of(const Rgb& color) const {
  if (!yuv_) {
    return {static_cast<double>(color.r), static_cast<double>(color.g),
            static_cast<double>(color.b), 255.0};
  }
  // ITU-R BT.601, BT.709 and BT.2020, quantised as their tables for 8 bits say.
  const double y = luma(color, luma_weights_);
  const double u = (color.b - y) / (2.0 * (1.0 - luma_weights_.blue));
  const double v = (color.r - y) / (2.0 * (1.0 - luma_weights_.red));
  if (full_range_) return {y, u + 128.0, v + 128.0, 0.0};
  return {16.0 + y * 219.0 / 255.0, 128.0 + u * 224.0 / 255.0, 128.0 + v * 224.0 / 255.0, 0.0};
}

Samples Canvas::samples(const Plane& plane, const Rgb& color) const {
  const std::array<double, 4> components = components_of(color);
  Samples result{};
  for (size_t c = 0; c < static_cast<size_t>(plane.channels); ++c) {
    const double level = std::round(components[static_cast<size_t>(plane.components[c])]);
    result[c] = static_cast<uint8_t>(std::clamp(level, 0.0, 255.0));
  }
  return result;
}

void Canvas::rectangle(const Rect& rect, const Rgb& color, int line_width) {
  // Four bars inside the box, so that every plane shows the same thickness at the same place.
  const int bar = std::clamp(line_width, 1, std::max(1, std::min(rect.width, rect.height) / 2));
  fill({rect.x, rect.y, rect.width, bar}, color);
  fill({rect.x, rect.y + rect.height - bar, rect.width, bar}, color);
  fill({rect.x, rect.y, bar, rect.height}, color);
  fill({rect.x + rect.width - bar, rect.y, bar, rect.height}, color);
}

void Canvas::fill(const Rect& rect, const Rgb& color) {
  const Rect inside = clip(rect, width_, height_);
  if (inside.width == 0 || inside.height == 0) return;
  for (Plane& plane : planes_) {
    const int round = (1 << plane.shift) - 1;
    const int x = inside.x >> plane.shift;
    const int y = inside.y >> plane.shift;
    const Rect part{x, y, ((inside.x + inside.width + round) >> plane.shift) - x,
                    ((inside.y + inside.height + round) >> plane.shift) - y};
    fill_rect(plane, part, samples(plane, color));
  }
}

void Canvas::line(const Position& from, const Position& to, int line_width, const Rgb& color) {
  for (Plane& plane : planes_) {
    RowSpans spans(plane.width, plane.height);
    spans.add_line({from.x >> plane.shift, from.y >> plane.shift},
                   {to.x >> plane.shift, to.y >> plane.shift},
                   std::max(1, line_width >> plane.shift));
    spans.fill(plane, samples(plane, color));
  }
}

void Canvas::tint(const Rect& rect, const std::function<const Rgb*(int x, int y)>& color_at) {
  const Rect inside = clip(rect, width_, height_);
  for (Plane& plane : planes_) {
    const int step = 1 << plane.shift;
    const Rgb* last = nullptr;
    Samples mixed{};
    for (int y = inside.y; y < inside.y + inside.height; y += step) {
      for (int x = inside.x; x < inside.x + inside.width; x += step) {
        const Rgb* color = color_at(x, y);
        if (!color) continue;
        if (color != last) mixed = samples(plane, *color);
        last = color;
        uint8_t* const pixel = plane.at(x >> plane.shift, y >> plane.shift);
        for (size_t c = 0; c < static_cast<size_t>(plane.channels); ++c) {
          if (!yuv_ && plane.components[c] == 3) continue;  // opacity
          pixel[c] = static_cast<uint8_t>((pixel[c] + mixed[c] + 1) / 2);
        }
      }
    }
  }
}

void Canvas::dot(const Position& centre, int radius, const Rgb& color) {
  for (Plane& plane : planes_) {
    RowSpans spans(plane.width, plane.height);
    spans.add_disc({centre.x >> plane.shift, centre.y >> plane.shift},
                   std::max(1, radius >> plane.shift));
    spans.fill(plane, samples(plane, color));
  }
}

void Canvas::letters(const OpacityMap& opacity, const Position& place, const Rgb& background) {
  const Rect inside = clip({place.x, place.y, opacity.width, opacity.height}, width_, height_);
  if (inside.width == 0 || inside.height == 0) return;
  const Rgb color = luma(background, luma_weights_) > 140.0 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
  // In YUV the letters are a matter of luma; their colour stays that of the background.
  for (Plane& plane : planes_) {
    const auto channels = static_cast<size_t>(plane.channels);
    const Samples wanted = samples(plane, color);
    for (int y = inside.y; y < inside.y + inside.height; ++y) {
      const uint8_t* const weights = opacity.row(y - place.y) + (inside.x - place.x);
      uint8_t* pixel = plane.at(inside.x, y);
      for (int x = 0; x < inside.width; ++x, pixel += channels) {
        const int weight = weights[x];
        if (weight == 0) continue;
        for (size_t c = 0; c < channels; ++c) {
          const int mixed = pixel[c] * (255 - weight) + wanted[c] * weight + 127;
          pixel[c] = static_cast<uint8_t>(mixed / 255);
        }
      }
    }
    if (yuv_) break;
  }
}

void Canvas::blur(const Rect& rect) {
  const Rect inside = clip(rect, width_, height_);
  if (inside.width == 0 || inside.height == 0) return;
  for (Plane& plane : planes_) {
    const Rect part = clip(
        {inside.x >> plane.shift, inside.y >> plane.shift,
         (inside.width >> plane.shift) + plane.shift, (inside.height >> plane.shift) + plane.shift},
        plane.width, plane.height);
    if (part.width == 0 || part.height == 0) continue;
    box_blur(plane, part, std::max(3, std::min(part.width, part.height) / 3 | 1));
  }
}

}  // namespace het::gst
