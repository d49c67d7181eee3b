#include "canvas.h"

#include <algorithm>
#include <cmath>
#include <opencv2/imgproc.hpp>

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
  planes_.push_back(
      {cv::Mat((height_ + round) >> shift, (width_ + round) >> shift, CV_MAKETYPE(CV_8U, channels),
               GST_VIDEO_FRAME_PLANE_DATA(&frame, index),
               static_cast<size_t>(GST_VIDEO_FRAME_PLANE_STRIDE(&frame, index))),
       shift, components});
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

cv::Scalar Canvas::scalar(const Plane& plane, const Rgb& color) const {
  const std::array<double, 4> components = components_of(color);
  cv::Scalar result;
  for (int c = 0; c < plane.pixels.channels(); ++c) {
    const auto component = static_cast<size_t>(plane.components[static_cast<size_t>(c)]);
    result[c] = std::clamp(std::round(components[component]), 0.0, 255.0);
  }
  return result;
}

void Canvas::rectangle(const cv::Rect& rect, const Rgb& color, int line_width) {
  // Four bars inside the box, so that every plane shows the same thickness at the same place.
  const int bar = std::clamp(line_width, 1, std::max(1, std::min(rect.width, rect.height) / 2));
  fill({rect.x, rect.y, rect.width, bar}, color);
  fill({rect.x, rect.y + rect.height - bar, rect.width, bar}, color);
  fill({rect.x, rect.y, bar, rect.height}, color);
  fill({rect.x + rect.width - bar, rect.y, bar, rect.height}, color);
}

void Canvas::fill(const cv::Rect& rect, const Rgb& color) {
  const cv::Rect inside = rect & cv::Rect(0, 0, width_, height_);
  if (inside.empty()) return;
  for (Plane& plane : planes_) {
    const int round = (1 << plane.shift) - 1;
    const int x = inside.x >> plane.shift;
    const int y = inside.y >> plane.shift;
    const cv::Rect part(x, y, ((inside.x + inside.width + round) >> plane.shift) - x,
                        ((inside.y + inside.height + round) >> plane.shift) - y);
    plane.pixels(part).setTo(scalar(plane, color));
  }
}

void Canvas::line(const cv::Point& from, const cv::Point& to, int line_width, const Rgb& color) {
  for (Plane& plane : planes_) {
    cv::line(plane.pixels, {from.x >> plane.shift, from.y >> plane.shift},
             {to.x >> plane.shift, to.y >> plane.shift}, scalar(plane, color),
             std::max(1, line_width >> plane.shift));
  }
}

void Canvas::tint(const cv::Rect& rect, const std::function<const Rgb*(int x, int y)>& color_at) {
  const cv::Rect inside = rect & cv::Rect(0, 0, width_, height_);
  for (Plane& plane : planes_) {
    const int channels = plane.pixels.channels();
    const int step = 1 << plane.shift;
    const Rgb* last = nullptr;
    cv::Scalar mixed;
    for (int y = inside.y; y < inside.y + inside.height; y += step) {
      uchar* row = plane.pixels.ptr(y >> plane.shift);
      for (int x = inside.x; x < inside.x + inside.width; x += step) {
        const Rgb* color = color_at(x, y);
        if (!color) continue;
        if (color != last) mixed = scalar(plane, *color);
        last = color;
        uchar* pixel = row + (x >> plane.shift) * channels;
        for (int c = 0; c < channels; ++c) {
          if (!yuv_ && plane.components[static_cast<size_t>(c)] == 3) continue;  // opacity
          pixel[c] = static_cast<uchar>((pixel[c] + static_cast<int>(mixed[c]) + 1) / 2);
        }
      }
    }
  }
}

void Canvas::dot(const cv::Point& centre, int radius, const Rgb& color) {
  for (Plane& plane : planes_) {
    cv::circle(plane.pixels, {centre.x >> plane.shift, centre.y >> plane.shift},
               std::max(1, radius >> plane.shift), scalar(plane, color), cv::FILLED);
  }
}

void Canvas::letters(const cv::Mat& opacity, const cv::Point& place, const Rgb& background) {
  const cv::Rect inside = cv::Rect(place, opacity.size()) & cv::Rect(0, 0, width_, height_);
  if (inside.empty()) return;
  const Rgb color = luma(background, luma_weights_) > 140.0 ? Rgb{0, 0, 0} : Rgb{255, 255, 255};
  // In YUV the letters are a matter of luma; their colour stays that of the background.
  for (Plane& plane : planes_) {
    const int channels = plane.pixels.channels();
    const cv::Scalar components = scalar(plane, color);
    std::array<int, 4> wanted{};
    for (int c = 0; c < channels; ++c)
      wanted[static_cast<size_t>(c)] = static_cast<int>(components[c]);
    for (int y = inside.y; y < inside.y + inside.height; ++y) {
      const uchar* weights = opacity.ptr(y - place.y) + (inside.x - place.x);
      uchar* pixel = plane.pixels.ptr(y) + inside.x * channels;
      for (int x = 0; x < inside.width; ++x, pixel += channels) {
        const int weight = weights[x];
        if (weight == 0) continue;
        for (int c = 0; c < channels; ++c) {
          const int mixed =
              pixel[c] * (255 - weight) + wanted[static_cast<size_t>(c)] * weight + 127;
          pixel[c] = static_cast<uchar>(mixed / 255);
        }
      }
    }
    if (yuv_) break;
  }
}

void Canvas::blur(const cv::Rect& rect) {
  const cv::Rect inside = rect & cv::Rect(0, 0, width_, height_);
  if (inside.empty()) return;
  for (Plane& plane : planes_) {
    const cv::Rect all(0, 0, plane.pixels.cols, plane.pixels.rows);
    const cv::Rect part = all & cv::Rect(inside.x >> plane.shift, inside.y >> plane.shift,
                                         (inside.width >> plane.shift) + plane.shift,
                                         (inside.height >> plane.shift) + plane.shift);
    if (part.empty()) continue;
    const int size = std::max(3, std::min(part.width, part.height) / 3 | 1);
    cv::Mat pixels = plane.pixels(part);
    cv::blur(pixels, pixels, {size, size}, {-1, -1}, cv::BORDER_REPLICATE | cv::BORDER_ISOLATED);
  }
}

}  // namespace het::gst
