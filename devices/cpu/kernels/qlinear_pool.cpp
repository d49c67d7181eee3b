#include <vector>

#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/quantisation/quantization.h"
#include "inference/passes/fusions/constant_scale.h"

namespace het::cpu {
namespace {

/// Exact sums over the area, then one multiplication and rounding as in the reference. Loop order:
/// image and channel, then area; channels last: image, area, channel.
template <class T>
class QLinearGlobalPoolKernel final : public Kernel {
 public:
  QLinearGlobalPoolKernel(const Shape& shape, bool last, int64_t src_zero, float factor,
                          int64_t dst_zero)
      : images_(shape[0]),
        channels_(shape[1]),
        area_(element_count(std::span(shape).subspan(2))),
        last_(last),
        src_zero_(src_zero),
        factor_(factor),
        dst_zero_(dst_zero) {}

  std::string_view implementation() const override { return "own"; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(images_ * channels_) * sizeof(int32_t);
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const T*>(args.inputs[0]);
    auto* dst = reinterpret_cast<T*>(args.outputs[0]);
    auto* sums = reinterpret_cast<int32_t*>(args.scratch);
    if (last_) {
      for (int64_t n = 0; n < images_; ++n) add_pixels(src, n, sums);
    } else {
      parallel_for(images_ * channels_, 16384 / area_ + 1, [&](int64_t begin, int64_t end) {
        for (int64_t c = begin; c < end; ++c) {
          int32_t sum = 0;
          for (int64_t i = 0; i < area_; ++i) sum += src[c * area_ + i];
          sums[c] = sum;
        }
      });
    }
    const int64_t zeros = src_zero_ * area_;
    for (int64_t c = 0; c < images_ * channels_; ++c) {
      dst[c] = saturate_quantized<T>(static_cast<float>(sums[c] - zeros) * factor_, dst_zero_);
    }
    return {};
  }

 private:
  void add_pixels(const T* src, int64_t image, int32_t* sums) const {
    parallel_for(channels_, 16384 / area_ + 1, [&](int64_t begin, int64_t end) {
      int32_t* to = sums + image * channels_;
      std::fill(to + begin, to + end, 0);
      for (int64_t i = 0; i < area_; ++i) {
        const T* from = src + (image * area_ + i) * channels_;
        for (int64_t c = begin; c < end; ++c) to[c] += from[c];
      }
    });
  }

  int64_t images_;
  int64_t channels_;
  int64_t area_;
  bool last_;
  int64_t src_zero_;
  float factor_;
  int64_t dst_zero_;
};

Result<bool> plan_global_pool(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const ElementType type = src.desc().type;
  const Shape& shape = src.desc().shape;
  const auto src_scale = constant_scale(node, 1);
  const auto dst_scale = constant_scale(node, 3);
  if (!src_scale || !dst_scale || !src_scale->per_tensor() || !dst_scale->per_tensor() ||
      node.output()->desc().type != type || node.attributes().get_int("channels_last", 0) != 0) {
    return false;
  }
  const int64_t area = element_count(std::span(shape).subspan(2));
  if (area > (int64_t{1} << 22)) return false;  // the sum must fit into 32 bits
  const bool last = builder.home(src).format == Format::ChannelsLast;
  const float factor = src_scale->scales[0] / (static_cast<float>(area) * dst_scale->scales[0]);
  std::unique_ptr<Kernel> kernel;
  if (type == ElementType::UInt8) {
    kernel = std::make_unique<QLinearGlobalPoolKernel<uint8_t>>(shape, last, src_scale->zeros[0],
                                                                factor, dst_scale->zeros[0]);
  } else if (type == ElementType::Int8) {
    kernel = std::make_unique<QLinearGlobalPoolKernel<int8_t>>(shape, last, src_scale->zeros[0],
                                                               factor, dst_scale->zeros[0]);
  } else {
    return false;
  }
  HET_ASSIGN(const TensorId in,
             builder.read(src, last ? Format::ChannelsLast : Format::Plain, type));
  // One pixel: both formats are the same bytes.
  const TensorId out =
      builder.write(*node.output(), {type, node.output()->desc().shape, Format::Plain});
  builder.add_step(node, std::move(kernel), {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_qlinear_pool(KernelRegistry& registry) {
  registry.add("com.microsoft", "QLinearGlobalAveragePool", plan_global_pool);
}

}  // namespace het::cpu
