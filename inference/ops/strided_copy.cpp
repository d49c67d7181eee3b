#include "inference/ops/strided_copy.h"

#include <algorithm>
#include <cstring>

namespace het {
namespace {

template <size_t kWidth>
void copy_row(int64_t count, const std::byte* src, int64_t src_step, std::byte* dst,
              int64_t dst_step) {
  constexpr auto kBytes = static_cast<int64_t>(kWidth);
  if (src_step == 1 && dst_step == 1) {
    std::memcpy(dst, src, static_cast<size_t>(count * kBytes));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(dst + i * dst_step * kBytes, src + i * src_step * kBytes, kWidth);
  }
}

template <size_t kWidth>
void copy_dims(std::span<const int64_t> shape, const std::byte* src,
               std::span<const int64_t> src_strides, std::byte* dst,
               std::span<const int64_t> dst_strides) {
  if (shape.size() == 1) {
    copy_row<kWidth>(shape[0], src, src_strides[0], dst, dst_strides[0]);
    return;
  }
  constexpr auto kBytes = static_cast<int64_t>(kWidth);
  for (int64_t i = 0; i < shape[0]; ++i) {
    copy_dims<kWidth>(shape.subspan(1), src + i * src_strides[0] * kBytes, src_strides.subspan(1),
                      dst + i * dst_strides[0] * kBytes, dst_strides.subspan(1));
  }
}

}  // namespace

void strided_copy(const Shape& shape, size_t width, const std::byte* src,
                  std::span<const int64_t> src_strides, std::byte* dst,
                  std::span<const int64_t> dst_strides) {
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return;
  if (shape.empty()) {
    std::memcpy(dst, src, width);
    return;
  }
  const auto copy = width == 1   ? copy_dims<1>
                    : width == 2 ? copy_dims<2>
                    : width == 4 ? copy_dims<4>
                                 : copy_dims<8>;
  copy(shape, src, src_strides, dst, dst_strides);
}

void copy_elements(const Tensor& src, Tensor& dst) {
  const size_t size = std::min(src.size_bytes(), dst.size_bytes());
  if (size > 0 && src.bytes() != dst.bytes()) std::memcpy(dst.bytes(), src.bytes(), size);
}

}  // namespace het
