#include "inference/motion/reduced_luma.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "inference/motion/motion_kernels.h"

namespace het::motion_internal {
namespace {

constexpr int64_t kFewestPixels = 320 * 180;
constexpr int kMaxFactor = 8;

int factor_for(int width, int height) {
  int factor = 1;
  while (factor < kMaxFactor &&
         int64_t{width / (2 * factor)} * (height / (2 * factor)) >= kFewestPixels)
    factor *= 2;
  return factor;
}

}  // namespace

ReducedLuma::ReducedLuma(int width, int height)
    : factor_(factor_for(width, height)),
      source_width_(width),
      width_((width + factor_ - 1) / factor_),
      height_((height + factor_ - 1) / factor_),
      stride_((width_ + kColumnStep - 1) / kColumnStep * kColumnStep),
      pixels_(static_cast<size_t>(stride_) * static_cast<size_t>(height_)),
      sums_(static_cast<size_t>(stride_) * static_cast<size_t>(factor_)),
      pairs_(sums_.size()) {}

void ReducedLuma::read(const motion::LumaPlane& luma) {
  const MotionKernels& kernels = motion_kernels();
  const int shift = 2 * std::countr_zero(static_cast<unsigned>(factor_));
  std::array<const uint8_t*, kMaxFactor> rows{};
  for (int y = 0; y < height_; ++y) {
    for (int i = 0; i < factor_; ++i) {
      const int source = std::min(y * factor_ + i, luma.height - 1);
      rows[static_cast<size_t>(i)] = luma.pixels + source * luma.stride_bytes;
    }
    kernels.sum_rows(rows.data(), factor_, source_width_, sums_.data());
    std::fill(sums_.begin() + source_width_, sums_.end(),
              sums_[static_cast<size_t>(source_width_) - 1]);
    for (int part = factor_ / 2; part >= 1; part /= 2) {
      kernels.add_pairs(sums_.data(), stride_ * part, pairs_.data());
      std::swap(sums_, pairs_);
    }
    kernels.means(sums_.data(), shift, stride_, pixels_.data() + int64_t{y} * stride_);
  }
}

}  // namespace het::motion_internal
