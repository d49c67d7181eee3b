#include "inference/ops/windows/grid_sample.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Bilinear samples of pictures, zeros outside. Loop order: image and output pixel, then channel:
/// the four neighbours and their weights serve all channels.
class GridSampleKernel final : public Kernel {
 public:
  GridSampleKernel(const Shape& src, const Shape& dst, bool align_corners)
      : channels_(src[1]),
        height_(src[2]),
        width_(src[3]),
        pixels_(dst[2] * dst[3]),
        images_(src[0]),
        align_corners_(align_corners) {}

  std::string_view implementation() const override { return "own"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    const auto* grid = reinterpret_cast<const float*>(args.inputs[1]);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    parallel_for(images_ * pixels_, std::max<int64_t>(4096 / std::max<int64_t>(channels_, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t n = k / pixels_;
                     const int64_t p = k % pixels_;
                     sample(src + n * channels_ * height_ * width_, grid + 2 * k,
                            dst + n * channels_ * pixels_ + p);
                   }
                 });
    return {};
  }

 private:
  /// From [-1, 1] to pixels.
  float position(float value, int64_t size) const {
    const auto length = static_cast<float>(size);
    return align_corners_ ? (value + 1.0f) / 2.0f * (length - 1.0f)
                          : ((value + 1.0f) * length - 1.0f) / 2.0f;
  }

  void sample(const float* src, const float* at, float* dst) const {
    const float x = position(at[0], width_);
    const float y = position(at[1], height_);
    std::array<int64_t, 4> offset{};
    std::array<float, 4> weight{};
    // Far outside (and NaN) nothing is in reach; the comparison also keeps the conversion defined.
    const bool near =
        x > -1.0f && x < static_cast<float>(width_) && y > -1.0f && y < static_cast<float>(height_);
    if (near) {
      const auto x0 = static_cast<int64_t>(std::floor(x));
      const auto y0 = static_cast<int64_t>(std::floor(y));
      const float dx = x - static_cast<float>(x0);
      const float dy = y - static_cast<float>(y0);
      for (size_t i = 0; i < 4; ++i) {
        const int64_t xi = x0 + static_cast<int64_t>(i & 1);
        const int64_t yi = y0 + static_cast<int64_t>(i >> 1);
        if (xi < 0 || xi >= width_ || yi < 0 || yi >= height_) continue;
        offset[i] = yi * width_ + xi;
        weight[i] = ((i & 1) ? dx : 1.0f - dx) * ((i >> 1) ? dy : 1.0f - dy);
      }
    }
    const int64_t plane = height_ * width_;
    for (int64_t c = 0; c < channels_; ++c) {
      const float* from = src + c * plane;
      dst[c * pixels_] = weight[0] * from[offset[0]] + weight[1] * from[offset[1]] +
                         weight[2] * from[offset[2]] + weight[3] * from[offset[3]];
    }
  }

  int64_t channels_;
  int64_t height_;
  int64_t width_;
  int64_t pixels_;
  int64_t images_;
  bool align_corners_;
};

Result<bool> plan_grid_sample(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& grid = *node.input(1);
  const Value& dst = *node.output();
  if (src.desc().type != ElementType::Float32 || grid.desc().type != ElementType::Float32 ||
      src.desc().shape.size() != 4) {
    return false;
  }
  HET_ASSIGN(const GridSampleAttributes sample,
             grid_sample_attributes(node, src.desc().shape, grid.desc().shape));
  if (sample.mode != GridInterpolation::Linear || sample.padding != GridPadding::Zeros) {
    return false;
  }
  HET_ASSIGN(const TensorId in, builder.read(src, Format::Plain, ElementType::Float32));
  HET_ASSIGN(const TensorId at, builder.read(grid, Format::Plain, ElementType::Float32));
  const TensorId out = builder.write(dst, {ElementType::Float32, dst.desc().shape, Format::Plain});
  builder.add_step(
      node,
      std::make_unique<GridSampleKernel>(src.desc().shape, dst.desc().shape, sample.align_corners),
      {in, at}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_grid_sample(KernelRegistry& registry) {
  registry.add("", "GridSample", plan_grid_sample);
}

}  // namespace het::cpu
