#include "inference/preprocess/row_target.h"

#include <algorithm>
#include <cstring>

#include "inference/preprocess/column_tables.h"
#include "inference/preprocess/row_kernels.h"

namespace het::preprocess_internal {
namespace {

constexpr size_t kMaxElementBytes = 8;

template <class Element>
void fill_area(std::byte* first, int64_t row_stride, int64_t pixel_stride, int width, int height,
               const std::byte* bytes) {
  Element element;
  std::memcpy(&element, bytes, sizeof element);
  for (int y = 0; y < height; ++y) {
    std::byte* const row = first + y * row_stride;
    if (pixel_stride == sizeof(Element)) {
      std::fill_n(reinterpret_cast<Element*>(row), width, element);
      continue;
    }
    for (int x = 0; x < width; ++x) *reinterpret_cast<Element*>(row + x * pixel_stride) = element;
  }
}

}  // namespace

size_t RowTarget::scratch_bytes(const Conversion& conversion) {
  const auto columns = static_cast<size_t>(padded_columns(conversion.geometry.destination.width));
  return 3 *
         (Scratch::padded(columns * sizeof(float)) + Scratch::padded(columns * kMaxElementBytes));
}

RowTarget::RowTarget(const Conversion& conversion, Scratch& scratch)
    : conversion_(conversion),
      target_(conversion.target),
      element_bytes_(byte_width(conversion.target.type)),
      order_(Order::Scattered) {
  const auto element = static_cast<int64_t>(element_bytes_);
  if (target_.pixel_stride_bytes == element) {
    order_ = Order::Planar;
  } else if (target_.channels == 3 && target_.channel_stride_bytes == element &&
             target_.pixel_stride_bytes == 3 * element) {
    order_ = Order::Interleaved;
  }
  const auto columns = static_cast<size_t>(padded_columns(conversion.geometry.destination.width));
  for (float*& row : values_) row = scratch.take<float>(columns);
  for (std::byte*& row : encoded_) row = scratch.take<std::byte>(columns * kMaxElementBytes);
}

std::byte* RowTarget::encode(const float* values, std::byte* encoded) const {
  const int columns = padded_columns(conversion_.geometry.destination.width);
  switch (target_.type) {
    case ElementType::UInt8:
      to_uint8_row(values, columns, reinterpret_cast<uint8_t*>(encoded));
      break;
    case ElementType::Float16:
      to_float16_row(values, columns, reinterpret_cast<uint16_t*>(encoded));
      break;
    case ElementType::BFloat16:
      to_bfloat16_row(values, columns, reinterpret_cast<uint16_t*>(encoded));
      break;
    case ElementType::Float64:
      std::copy_n(values, columns, reinterpret_cast<double*>(encoded));
      break;
    default:  // Float32 is stored as it is
      std::memcpy(encoded, values, static_cast<size_t>(columns) * sizeof(float));
      break;
  }
  return encoded;
}

void RowTarget::put(int y, const std::array<const int16_t*, 3>& top,
                    const std::array<const int16_t*, 3>& bottom, int weight) const {
  const Rect& to = conversion_.geometry.destination;
  const bool direct = order_ == Order::Planar && target_.type == ElementType::Float32;
  std::array<const std::byte*, 3> elements{};
  for (int channel = 0; channel < target_.channels; ++channel) {
    const auto c = static_cast<size_t>(channel);
    std::byte* const out = target_.at(channel, to.y + y, to.x);
    float* const values = direct ? reinterpret_cast<float*>(out) : values_[c];
    blend_rows(top[c], bottom[c], weight, conversion_.gain[c], conversion_.bias[c], to.width,
               values);
    if (direct) continue;
    elements[c] = target_.type == ElementType::Float32 ? reinterpret_cast<std::byte*>(values)
                                                       : encode(values, encoded_[c]);
    if (order_ == Order::Planar) {
      std::memcpy(out, elements[c], static_cast<size_t>(to.width) * element_bytes_);
    } else if (order_ == Order::Scattered) {
      for (int x = 0; x < to.width; ++x) {
        std::memcpy(out + x * target_.pixel_stride_bytes,
                    elements[c] + static_cast<size_t>(x) * element_bytes_, element_bytes_);
      }
    }
  }
  if (order_ == Order::Interleaved) {
    interleave_rows(elements, element_bytes_, to.width, target_.at(0, to.y + y, to.x));
  }
}

void RowTarget::fill(int channel, const Rect& area, const std::byte* element) const {
  if (area.width <= 0 || area.height <= 0) return;
  const auto fill_typed = element_bytes_ == 1   ? fill_area<uint8_t>
                          : element_bytes_ == 2 ? fill_area<uint16_t>
                          : element_bytes_ == 4 ? fill_area<uint32_t>
                                                : fill_area<uint64_t>;
  fill_typed(target_.at(channel, area.y, area.x), target_.row_stride_bytes,
             target_.pixel_stride_bytes, area.width, area.height, element);
}

void RowTarget::pad(const std::array<float, 3>& pad_value) const {
  const Rect& to = conversion_.geometry.destination;
  const int right = to.x + to.width;
  const int bottom = to.y + to.height;
  for (int channel = 0; channel < target_.channels; ++channel) {
    const auto c = static_cast<size_t>(channel);
    std::array<std::byte, kMaxElementBytes> element{};
    store_element(target_.type, pad_value[c] * conversion_.gain[c] + conversion_.bias[c],
                  element.data());
    fill(channel, {0, 0, target_.width, to.y}, element.data());
    fill(channel, {0, bottom, target_.width, target_.height - bottom}, element.data());
    fill(channel, {0, to.y, to.x, to.height}, element.data());
    fill(channel, {right, to.y, target_.width - right, to.height}, element.data());
  }
}

}  // namespace het::preprocess_internal
