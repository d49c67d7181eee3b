#include "tests/preprocess/test_pictures.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/guarded_memory.h"

namespace het::preprocess_tests {

size_t picture_bytes(PixelFormat format, int width, int height, int stride_alignment) {
  size_t bytes = 0;
  for (int p = 0; p < plane_count(format); ++p) {
    const int64_t row = plane_row_bytes(format, p, width);
    const int64_t stride = (row + stride_alignment - 1) / stride_alignment * stride_alignment;
    bytes += static_cast<size_t>(stride * plane_rows(format, p, height));
  }
  return bytes;
}

namespace {

Image empty_picture(PixelFormat format, int width, int height, int stride_alignment) {
  auto image = make_host_image(
      format, width, height, guarded_memory(picture_bytes(format, width, height, stride_alignment)),
      stride_alignment);
  if (!image) std::abort();
  return std::move(*image);
}

/// Relative size of half a unit in the last place.
double rounding_of(ElementType type) {
  switch (type) {
    case ElementType::Float16:
      return 0x1p-11;
    case ElementType::BFloat16:
      return 0x1p-8;
    default:
      return 0x1p-22;
  }
}

std::string_view name_of(ResizeMode mode) {
  switch (mode) {
    case ResizeMode::Stretch:
      return "stretch";
    case ResizeMode::LetterboxCentre:
      return "letterbox centre";
    case ResizeMode::LetterboxTopLeft:
      return "letterbox top-left";
    case ResizeMode::CentralCrop:
      return "central crop";
  }
  return "unknown";
}

}  // namespace

Image noise_picture(PixelFormat format, int width, int height, uint32_t seed,
                    int stride_alignment) {
  Image image = empty_picture(format, width, height, stride_alignment);
  std::mt19937 random(seed);
  const BufferPtr& buffer = image.planes[0].buffer;
  for (size_t i = 0; i < buffer->size_bytes(); ++i) {
    buffer->host()[i] = static_cast<std::byte>(random() >> 24);
  }
  return image;
}

Image smooth_picture(PixelFormat format, int width, int height, int stride_alignment) {
  Image image = empty_picture(format, width, height, stride_alignment);
  for (int p = 0; p < image.plane_count; ++p) {
    const auto row_bytes = static_cast<int>(plane_row_bytes(format, p, width));
    for (int y = 0; y < plane_rows(format, p, height); ++y) {
      for (int x = 0; x < row_bytes; ++x) {
        const double slow = 60.0 * std::sin(0.05 * x + p) + 50.0 * std::cos(0.04 * y);
        const int texture = (x * 7 + y * 5) % 11;
        set_byte(image, p, y, x, static_cast<int>(slow) + 120 + texture);
      }
    }
  }
  return image;
}

uint8_t* plane_bytes(const Image& image, int plane) {
  return reinterpret_cast<uint8_t*>(const_cast<std::byte*>(image.plane(plane)));
}

void set_byte(Image& image, int plane, int row, int byte, int value) {
  const int64_t stride = image.planes[static_cast<size_t>(plane)].stride_bytes;
  plane_bytes(image, plane)[row * stride + byte] = static_cast<uint8_t>(value);
}

void set_plane(Image& image, int plane, int value) {
  for (int y = 0; y < plane_rows(image.format, plane, image.height); ++y) {
    for (int x = 0; x < plane_row_bytes(image.format, plane, image.width); ++x) {
      set_byte(image, plane, y, x, value);
    }
  }
}

Tensor picture_tensor(const PreprocessDesc& desc, ElementType type, int width, int height) {
  const int64_t channels = desc.color_order == ColorOrder::Gray ? 1 : 3;
  Shape shape = desc.tensor_layout == Layout::NHWC ? Shape{1, height, width, channels}
                                                   : Shape{1, channels, height, width};
  auto tensor = Tensor::allocate({type, std::move(shape), desc.tensor_layout});
  if (!tensor) std::abort();
  std::fill_n(tensor->bytes(), tensor->size_bytes(), std::byte{0x5a});
  return std::move(*tensor);
}

double largest_difference(const Tensor& a, const Tensor& b, double level) {
  const auto values_a = to_float_vector(a);
  const auto values_b = to_float_vector(b);
  if (!values_a || !values_b || values_a->size() != values_b->size()) std::abort();
  double largest = 0.0;
  for (size_t i = 0; i < values_a->size(); ++i) {
    const double va = (*values_a)[i];
    const double vb = (*values_b)[i];
    const double rounding = 2.0 * rounding_of(a.type()) * std::max(std::abs(va), std::abs(vb));
    const double difference = std::max(0.0, std::abs(va - vb) - rounding) / level;
    if (!(difference <= largest)) largest = difference;  // a NaN stays visible
  }
  return largest;
}

std::string describe(const Image& image, const Rect& roi, const PreprocessDesc& desc,
                     const Tensor& tensor) {
  return fmt::format("{} {}x{} roi {},{} {}x{} -> {} {} {}", to_string(image.format), image.width,
                     image.height, roi.x, roi.y, roi.width, roi.height, to_string(tensor.desc()),
                     to_string(desc.tensor_layout), name_of(desc.resize));
}

}  // namespace het::preprocess_tests
