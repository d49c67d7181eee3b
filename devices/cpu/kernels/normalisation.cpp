#include <array>
#include <cmath>
#include <type_traits>

#include "devices/cpu/loops/moment_loops.h"
#include "devices/cpu/loops/row_norm_loops.h"
#include "devices/cpu/loops/wide_moments.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"

namespace het::cpu {
namespace {

/// Values that one thread should have at least.
constexpr int64_t kGrainValues = 8192;

/// `moments` are those of the values. Without `centred` the mean of the squares takes the place of
/// the variance.
template <class T>
Normaliser normaliser_of(const Moments& moments, const T* values, size_t count, size_t step,
                         float epsilon, bool centred = true) {
  float variance = moments.variance;
  if (!centred) variance += moments.mean * moments.mean;
  if (!std::isfinite(variance)) return wide_normaliser(values, count, step, epsilon, centred);
  return {centred ? moments.mean : 0.0f, 1.0f / std::sqrt(variance + epsilon)};
}

/// What the kernels here share: `count` stretches of `size` values are normalised one by one, with
/// scales and biases of all.
template <class F>
Status for_stretches(const KernelArgs& args, int64_t count, int64_t size, F normalise) {
  const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
  const auto* scale = reinterpret_cast<const float*>(args.inputs[1]);
  const auto* bias = reinterpret_cast<const float*>(args.inputs[2]);
  auto* dst = reinterpret_cast<float*>(args.outputs[0]);
  parallel_for(count, kGrainValues / size + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      normalise(i, src + i * size, scale, bias, dst + i * size);
    }
  });
  return {};
}

/// Instance- and GroupNormalization in plain memory. Loop order: image and group, then its
/// channels.
class GroupKernel final : public Kernel {
 public:
  GroupKernel(int64_t images, int64_t groups, int64_t channels, int64_t area, float epsilon)
      : groups_(groups),
        count_(images * groups),
        channels_(channels / groups),
        area_(area),
        epsilon_(epsilon) {}
  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const int64_t size = channels_ * area_;
    return for_stretches(
        args, count_, size,
        [&](int64_t g, const float* src, const float* scale, const float* bias, float* dst) {
          const auto count = static_cast<size_t>(size);
          const auto [mean, factor] =
              normaliser_of(row_moments(src, count), src, count, 1, epsilon_);
          const int64_t first = g % groups_ * channels_;
          for (int64_t c = 0; c < channels_; ++c) {
            normalise_row(src + c * area_, static_cast<size_t>(area_), mean,
                          factor * scale[first + c], bias[first + c], dst + c * area_);
          }
        });
  }

 private:
  int64_t groups_;
  int64_t count_;
  int64_t channels_;  ///< of a group
  int64_t area_;
  float epsilon_;
};

/// InstanceNormalization of some channels that lie side by side: those of a block, or of all that
/// lie last.
class LaneInstanceKernel final : public Kernel {
 public:
  /// `lanes` channels at a time, from `block` that lie together.
  LaneInstanceKernel(int64_t images, int64_t channels, int64_t area, int64_t block, int64_t lanes,
                     float epsilon)
      : groups_((channels + block - 1) / block * (block / lanes)),
        count_(images * groups_),
        channels_(channels),
        area_(area),
        block_(block),
        lanes_(lanes),
        epsilon_(epsilon) {}
  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    const auto* scale = reinterpret_cast<const float*>(args.inputs[1]);
    const auto* bias = reinterpret_cast<const float*>(args.inputs[2]);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    parallel_for(count_, kGrainValues / (area_ * lanes_) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t groups_of_block = block_ / lanes_;
        const int64_t first = i / groups_of_block * block_ * area_ + i % groups_of_block * lanes_;
        normalise(src + first, i % groups_ * lanes_, scale, bias, dst + first);
      }
    });
    return {};
  }

 private:
  void normalise(const float* src, int64_t first, const float* scale, const float* bias,
                 float* dst) const {
    const auto area = static_cast<size_t>(area_);
    const auto lanes = static_cast<size_t>(lanes_);
    const auto step = static_cast<size_t>(block_);
    std::array<Moments, 16> moments;
    std::array<float, 16> mean{}, factor{}, shift{};
    lane_moments(src, area, lanes, step, moments.data());
    // Padded channels have scale and bias 0, so they stay 0.
    for (int64_t c = first; c < std::min(first + lanes_, channels_); ++c) {
      const auto lane = static_cast<size_t>(c - first);
      const Normaliser by = normaliser_of(moments[lane], src + lane, area, step, epsilon_);
      mean[lane] = by.mean;
      factor[lane] = by.factor * scale[c];
      shift[lane] = bias[c];
    }
    normalise_lanes(src, area, lanes, step, mean.data(), factor.data(), shift.data(), dst);
  }

  int64_t groups_;
  int64_t count_;
  int64_t channels_;
  int64_t area_;
  int64_t block_;
  int64_t lanes_;
  float epsilon_;
};

/// LayerNormalization or RMSNormalization of rows that share one scale and one bias per value.
/// From: float or BFloat16; sums and what is made of them are float32.
template <class From>
class LayerKernel final : public Kernel {
 public:
  LayerKernel(int64_t rows, int64_t length, float epsilon, bool centred, ElementType to)
      : rows_(rows), length_(length), epsilon_(epsilon), centred_(centred), to_(to) {}
  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto length = static_cast<size_t>(length_);
    const RowNorm norm{length, epsilon_, centred_, reinterpret_cast<const float*>(args.inputs[1]),
                       reinterpret_cast<const float*>(args.inputs[2])};
    parallel_for(rows_, kGrainValues / length_ + 1, [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin) * length;
      const auto count = static_cast<size_t>(end - begin);
      const std::byte* const src = args.inputs[0] + first * sizeof(From);
      std::byte* const dst = args.outputs[0] + first * byte_width(to_);
      if (length <= kMaxRowNormLength) return normalise_rows(norm, count, kFrom, src, to_, dst);
      for (size_t r = 0; r < count; ++r) {
        normalise_long(norm, src + r * length * sizeof(From), dst + r * length * byte_width(to_));
      }
    });
    return {};
  }

 private:
  static constexpr ElementType kFrom =
      std::is_same_v<From, BFloat16> ? ElementType::BFloat16 : ElementType::Float32;

  void normalise_long(const RowNorm& norm, const std::byte* src, std::byte* dst) const {
    const auto [mean, factor] =
        normaliser_of(row_moments(kFrom, src, norm.length), reinterpret_cast<const From*>(src),
                      norm.length, 1, epsilon_, centred_);
    normalise_row(kFrom, src, norm.length, mean, factor, norm.scale, norm.shift, to_, dst);
  }

  int64_t rows_;
  int64_t length_;
  float epsilon_;
  bool centred_;
  ElementType to_;
};

bool all_float32(const Node& node) {
  for (const Value* value : node.inputs()) {
    if (value != nullptr && value->desc().type != ElementType::Float32) return false;
  }
  return node.output()->desc().type == ElementType::Float32;
}

Result<bool> plan_group(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Shape& shape = src.desc().shape;
  if (!all_float32(node)) return false;
  const bool instance = node.op_type() == "InstanceNormalization";
  const float epsilon = node.attributes().get_float("epsilon", 1e-5f);
  const int64_t groups = instance ? shape[1] : node.attributes().get_int("num_groups", 1);
  const int64_t area = element_count(std::span(shape).subspan(2));
  TensorSpec spec{ElementType::Float32, shape, Format::Plain};
  const Format home = builder.home(src).format;
  const bool fills_lanes = home == Format::ChannelsLast && shape[1] % 8 == 0;
  if (instance && (is_blocked(home) || fills_lanes)) spec.format = home;
  std::unique_ptr<Kernel> kernel;
  if (spec.format != Format::Plain) {
    const int64_t block = fills_lanes ? shape[1] : block_of(home);
    kernel = std::make_unique<LaneInstanceKernel>(shape[0], shape[1], area, block,
                                                  block % 16 == 0 ? 16 : 8, epsilon);
  } else {
    kernel = std::make_unique<GroupKernel>(shape[0], groups, shape[1], area, epsilon);
  }
  std::vector<TensorId> inputs(3);
  HET_ASSIGN(inputs[0], builder.read(src, spec.format, ElementType::Float32));
  HET_ASSIGN(inputs[1], builder.read(*node.input(1), Format::Plain, ElementType::Float32));
  HET_ASSIGN(inputs[2], builder.read(*node.input(2), Format::Plain, ElementType::Float32));
  const TensorId out = builder.write(*node.output(), spec);
  builder.add_step(node, std::move(kernel), std::move(inputs), {out}).in_place = InPlace::Input;
  return true;
}

/// The statistics are no outputs here; scale and bias must have the shape of a row.
Result<bool> plan_layer(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  if (!all_float32(node)) return false;
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    if (node.output(i) != nullptr && builder.is_read(*node.output(i))) return false;
  }
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", -1),
                                                static_cast<int64_t>(shape.size())));
  HET_ASSIGN(const AxisSplit rows, flatten_from(shape, axis));
  const Shape row(shape.begin() + axis, shape.end());
  const auto fits = [&](const Value* value) {
    if (value == nullptr) return true;
    Shape own = value->desc().shape;
    while (own.size() > row.size() && own.front() == 1) own.erase(own.begin());
    return own == row;
  };
  if (!fits(node.input(1)) || !fits(node.input(2))) return false;
  const bool narrow = builder.home(*node.input(0)).type == ElementType::BFloat16;
  const ElementType from = narrow ? ElementType::BFloat16 : ElementType::Float32;
  const ElementType to = builder.kept_type(*node.output());
  std::vector<TensorId> inputs(3, kNoTensor);
  for (size_t i = 0; i < 3; ++i) {
    if (node.input(i) == nullptr) continue;
    HET_ASSIGN(inputs[i],
               builder.read(*node.input(i), Format::Plain, i == 0 ? from : ElementType::Float32));
  }
  const TensorId out = builder.write(*node.output(), {to, shape, Format::Plain});
  const float epsilon = node.attributes().get_float("epsilon", 1e-5f);
  const bool centred = node.op_type() == "LayerNormalization";
  std::unique_ptr<Kernel> kernel;
  if (narrow) {
    kernel = std::make_unique<LayerKernel<BFloat16>>(rows.outer, rows.length, epsilon, centred, to);
  } else {
    kernel = std::make_unique<LayerKernel<float>>(rows.outer, rows.length, epsilon, centred, to);
  }
  Step& step = builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  if (from == to) step.in_place = InPlace::Input;
  return true;
}

}  // namespace

HET_REGISTRATION void register_normalisation(KernelRegistry& registry) {
  registry.add("", "InstanceNormalization", plan_group);
  registry.add("", "GroupNormalization", plan_group);
  registry.add("", "LayerNormalization", plan_layer);
  registry.add("", "RMSNormalization", plan_layer);
}

}  // namespace het::cpu
