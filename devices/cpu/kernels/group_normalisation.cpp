#include <array>
#include <cmath>

#include "devices/cpu/loops/lane_norm_loops.h"
#include "devices/cpu/loops/moment_loops.h"
#include "devices/cpu/loops/wide_moments.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Values that one thread should have at least.
constexpr int64_t kGroupGrain = 8192;

/// Images of `channels` in `groups`, `area` values of each; InstanceNormalization has a group for
/// each channel.
struct GroupShape {
  int64_t images = 1;
  int64_t groups = 1;
  int64_t channels = 1;
  int64_t area = 1;
  float epsilon = 0.0f;
  ElementType from = ElementType::Float32;  ///< or BFloat16
  ElementType to = ElementType::Float32;    ///< or BFloat16

  int64_t of_group() const { return channels / groups; }
};

int64_t width(ElementType type) {
  return static_cast<int64_t>(byte_width(type));
}

/// Planes one behind the other. Loop order: image and group, then its channels.
class PlaneGroupKernel final : public Kernel {
 public:
  explicit PlaneGroupKernel(const GroupShape& shape) : shape_(shape) {}
  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* scale = reinterpret_cast<const float*>(args.inputs[1]);
    const auto* bias = reinterpret_cast<const float*>(args.inputs[2]);
    const int64_t size = shape_.of_group() * shape_.area;
    parallel_for(shape_.images * shape_.groups, kGroupGrain / size + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t g = begin; g < end; ++g) {
                     const int64_t first = g % shape_.groups * shape_.of_group();
                     normalise(args.inputs[0] + g * size * width(shape_.from), scale + first,
                               bias + first, args.outputs[0] + g * size * width(shape_.to));
                   }
                 });
    return {};
  }

 private:
  void normalise(const std::byte* src, const float* scale, const float* bias,
                 std::byte* dst) const {
    const auto count = static_cast<size_t>(shape_.of_group() * shape_.area);
    const auto area = static_cast<size_t>(shape_.area);
    const auto [mean, factor] = normaliser_of(src, count);
    for (int64_t c = 0; c < shape_.of_group(); ++c) {
      const int64_t first = c * shape_.area;
      normalise_plane(shape_.from, src + first * width(shape_.from), area, mean, factor * scale[c],
                      bias[c], shape_.to, dst + first * width(shape_.to));
    }
  }

  Normaliser normaliser_of(const std::byte* src, size_t count) const {
    const Moments moments = row_moments(shape_.from, src, count);
    if (std::isfinite(moments.variance)) {
      return {moments.mean, 1.0f / std::sqrt(moments.variance + shape_.epsilon)};
    }
    const auto at = [&](size_t i) {
      return shape_.from == ElementType::BFloat16
                 ? static_cast<float>(reinterpret_cast<const BFloat16*>(src)[i])
                 : reinterpret_cast<const float*>(src)[i];
    };
    return wide_normaliser(at, count, shape_.epsilon, true);
  }

  GroupShape shape_;
};

/// Channels side by side: those of a block, or of all that lie last. Strips of 8 or 16 channels are
/// what threads share, so sums do not depend on their number.
template <class From>
class LaneGroupKernel final : public Kernel {
 public:
  /// `lanes` channels at a time, from `block` that lie together.
  LaneGroupKernel(const GroupShape& shape, int64_t block, int64_t lanes)
      : shape_(shape),
        block_(block),
        lanes_(lanes),
        strips_((shape.channels + block - 1) / block * (block / lanes)) {}
  std::string_view implementation() const override { return "own_simd"; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(shape_.images * padded()) * (sizeof(double) + 3 * sizeof(float));
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const bool is_instance = shape_.groups == shape_.channels;
    if (is_instance) {
      // Each strip is alone, and stays in the cache.
      for_strips([&](int64_t image, int64_t strip) {
        const Work work(*this, args, image);
        const int64_t first = strip * lanes_;
        const int64_t end = std::min(first + lanes_, shape_.channels);
        sum(work, strip, nullptr);
        set_means(work, first, end);
        sum(work, strip, work.mean);
        set_factors(work, first, end);
        normalise(work, strip);
      });
      return {};
    }
    const auto for_images = [&](const auto& body) {
      for (int64_t i = 0; i < shape_.images; ++i) body(Work(*this, args, i));
    };
    for_strips(
        [&](int64_t image, int64_t strip) { sum(Work(*this, args, image), strip, nullptr); });
    for_images([&](const Work& work) { set_means(work, 0, shape_.channels); });
    for_strips([&](int64_t image, int64_t strip) {
      const Work work(*this, args, image);
      sum(work, strip, work.mean);
    });
    for_images([&](const Work& work) { set_factors(work, 0, shape_.channels); });
    for_strips([&](int64_t image, int64_t strip) { normalise(Work(*this, args, image), strip); });
    return {};
  }

 private:
  int64_t padded() const { return strips_ * lanes_; }

  /// What belongs to an image, by channel.
  struct Work {
    Work(const LaneGroupKernel& kernel, const KernelArgs& args, int64_t image)
        : src(reinterpret_cast<const From*>(args.inputs[0]) +
              image * kernel.padded() * kernel.shape_.area),
          scale(reinterpret_cast<const float*>(args.inputs[1])),
          bias(reinterpret_cast<const float*>(args.inputs[2])),
          dst(args.outputs[0] +
              image * kernel.padded() * kernel.shape_.area * width(kernel.shape_.to)) {
      const int64_t all = kernel.shape_.images * kernel.padded();
      sums = reinterpret_cast<double*>(args.scratch) + image * kernel.padded();
      mean = reinterpret_cast<float*>(reinterpret_cast<double*>(args.scratch) + all) +
             image * kernel.padded();
      factor = mean + all;
      shift = factor + all;
    }
    const From* src;
    const float* scale;
    const float* bias;
    std::byte* dst;
    double* sums;
    float* mean;
    float* factor;
    float* shift;
  };

  template <class F>
  void for_strips(const F& body) const {
    const int64_t grain = kGroupGrain / (shape_.area * lanes_) + 1;
    parallel_for(shape_.images * strips_, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) body(i / strips_, i % strips_);
    });
  }

  int64_t offset(int64_t strip) const {
    const int64_t of_block = block_ / lanes_;
    return strip / of_block * block_ * shape_.area + strip % of_block * lanes_;
  }

  Lanes strip_of(const Work& work, int64_t strip) const {
    return {shape_.from, reinterpret_cast<const std::byte*>(work.src + offset(strip)),
            static_cast<size_t>(shape_.area), static_cast<size_t>(lanes_),
            static_cast<size_t>(block_)};
  }

  void sum(const Work& work, int64_t strip, const float* means) const {
    lane_sums(strip_of(work, strip), means == nullptr ? nullptr : means + strip * lanes_,
              work.sums + strip * lanes_);
  }

  void normalise(const Work& work, int64_t strip) const {
    const int64_t first = strip * lanes_;
    normalise_lanes(strip_of(work, strip), work.mean + first, work.factor + first,
                    work.shift + first, shape_.to, work.dst + offset(strip) * width(shape_.to));
  }

  /// Calls body(first channel, what the group's sums are on average) for the groups of channels.
  template <class F>
  void for_groups(const Work& work, int64_t first, int64_t end, const F& body) const {
    const auto size = static_cast<double>(shape_.of_group() * shape_.area);
    for (; first < end; first += shape_.of_group()) {
      double total = 0.0;
      for (int64_t c = 0; c < shape_.of_group(); ++c) total += work.sums[first + c];
      body(first, static_cast<float>(total / size));
    }
  }

  void set_means(const Work& work, int64_t first, int64_t end) const {
    // Padded channels have mean, scale and bias 0, so they stay 0.
    if (end == shape_.channels) {
      for (float* values : {work.mean, work.factor, work.shift}) {
        std::fill(values + end, values + padded(), 0.0f);
      }
    }
    for_groups(work, first, end,
               [&](int64_t c, float mean) { std::fill_n(work.mean + c, shape_.of_group(), mean); });
  }

  void set_factors(const Work& work, int64_t first, int64_t end) const {
    for_groups(work, first, end, [&](int64_t group, float variance) {
      Normaliser by{work.mean[group], 1.0f / std::sqrt(variance + shape_.epsilon)};
      if (!std::isfinite(variance)) by = wide_group(work, group);
      for (int64_t c = group; c < group + shape_.of_group(); ++c) {
        work.mean[c] = by.mean;
        work.factor[c] = by.factor * work.scale[c];
        work.shift[c] = work.bias[c];
      }
    });
  }

  Normaliser wide_group(const Work& work, int64_t group) const {
    const auto at = [&](size_t i) {
      const int64_t c = group + static_cast<int64_t>(i) / shape_.area;
      const int64_t pixel = static_cast<int64_t>(i) % shape_.area;
      return work.src[offset(c / lanes_) + c % lanes_ + pixel * block_];
    };
    const auto count = static_cast<size_t>(shape_.of_group() * shape_.area);
    return wide_normaliser(at, count, shape_.epsilon, true);
  }

  GroupShape shape_;
  int64_t block_;
  int64_t lanes_;
  int64_t strips_;
};

std::unique_ptr<Kernel> make_lane_kernel(const GroupShape& shape, int64_t block) {
  const int64_t lanes = block % 16 == 0 ? 16 : 8;
  if (shape.from == ElementType::BFloat16) {
    return std::make_unique<LaneGroupKernel<BFloat16>>(shape, block, lanes);
  }
  return std::make_unique<LaneGroupKernel<float>>(shape, block, lanes);
}

Result<bool> plan_group(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Shape& dims = src.desc().shape;
  for (const Value* value : node.inputs()) {
    if (value->desc().type != ElementType::Float32) return false;
  }
  if (element_count(dims) == 0) return false;
  const TensorSpec home = builder.home(src);
  GroupShape shape;
  shape.images = dims[0];
  shape.channels = dims[1];
  shape.groups = node.op_type() == "InstanceNormalization"
                     ? dims[1]
                     : node.attributes().get_int("num_groups", 1);
  shape.area = element_count(std::span(dims).subspan(2));
  shape.epsilon = node.attributes().get_float("epsilon", 1e-5f);
  shape.from = home.type == ElementType::BFloat16 ? home.type : ElementType::Float32;
  shape.to = builder.kept_type(*node.output());
  const bool fills_lanes = home.format == Format::ChannelsLast && dims[1] % 8 == 0;
  const bool in_lanes = is_blocked(home.format) || fills_lanes;
  const Format format = in_lanes ? home.format : Format::Plain;
  std::unique_ptr<Kernel> kernel;
  if (in_lanes) {
    kernel = make_lane_kernel(shape, fills_lanes ? dims[1] : block_of(format));
  } else {
    kernel = std::make_unique<PlaneGroupKernel>(shape);
  }
  std::vector<TensorId> inputs(3);
  HET_ASSIGN(inputs[0], builder.read(src, format, shape.from));
  HET_ASSIGN(inputs[1], builder.read(*node.input(1), Format::Plain, ElementType::Float32));
  HET_ASSIGN(inputs[2], builder.read(*node.input(2), Format::Plain, ElementType::Float32));
  const TensorId out = builder.write(*node.output(), {shape.to, dims, format});
  Step& step = builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  if (shape.from == shape.to) step.in_place = InPlace::Input;
  return true;
}

}  // namespace

HET_REGISTRATION void register_group_normalisation(KernelRegistry& registry) {
  registry.add("", "InstanceNormalization", plan_group);
  registry.add("", "GroupNormalization", plan_group);
}

}  // namespace het::cpu
