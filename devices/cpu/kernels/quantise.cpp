#include <algorithm>
#include <array>

#include "devices/cpu/loops/byte_loops.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/passes/fusions/constant_scale.h"
#include "inference/tensors/shape.h"

namespace het::cpu {
namespace {

constexpr int64_t kQuantiseGrain = 16 * 1024;

std::optional<ByteScale> byte_scale(const Node& node, size_t index, ElementType type) {
  const auto constant = constant_scale(node, index);
  if (!constant || !constant->per_tensor() || !is_byte(type)) return std::nullopt;
  return ByteScale{constant->scales[0], static_cast<float>(constant->zeros[0]),
                   type == ElementType::Int8};
}

class QuantiseKernel final : public Kernel {
 public:
  QuantiseKernel(ByteScale scale, int64_t count) : scale_(scale), count_(count) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    parallel_for(count_, kQuantiseGrain, [&](int64_t begin, int64_t end) {
      quantise_row(src + begin, scale_, static_cast<size_t>(end - begin), args.outputs[0] + begin);
    });
    return {};
  }

 private:
  ByteScale scale_;
  int64_t count_;
};

/// A scale for each channel; channels lie last.
class QuantiseChannelsKernel final : public Kernel {
 public:
  QuantiseChannelsKernel(ChannelSteps steps, int64_t pixels)
      : steps_(std::move(steps)), pixels_(pixels) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    const auto channels = static_cast<int64_t>(steps_.channels);
    parallel_for(pixels_, kQuantiseGrain / channels + 1, [&](int64_t begin, int64_t end) {
      quantise_channels(src + begin * channels, steps_,
                        static_cast<size_t>((end - begin) * channels),
                        args.outputs[0] + begin * channels);
    });
    return {};
  }

 private:
  ChannelSteps steps_;
  int64_t pixels_;
};

class DequantiseKernel final : public Kernel {
 public:
  DequantiseKernel(ByteScale scale, int64_t count) : scale_(scale), count_(count) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    parallel_for(count_, kQuantiseGrain, [&](int64_t begin, int64_t end) {
      dequantise_row(args.inputs[0] + begin, scale_, static_cast<size_t>(end - begin), dst + begin);
    });
    return {};
  }

 private:
  ByteScale scale_;
  int64_t count_;
};

/// To or from bytes with a scale and a zero point for each index of a dimension: rows of what lies
/// behind it.
class ScaledRowsKernel final : public Kernel {
 public:
  ScaledRowsKernel(std::vector<ByteScale> scales, int64_t rows, int64_t inner, bool to_bytes)
      : scales_(std::move(scales)), rows_(rows), inner_(inner), to_bytes_(to_bytes) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    const std::byte* const src = args.inputs[0];
    std::byte* const dst = args.outputs[0];
    const auto count = static_cast<size_t>(inner_);
    parallel_for(rows_, kQuantiseGrain / inner_ + 1, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const ByteScale& scale = scales_[static_cast<size_t>(row % std::ssize(scales_))];
        const int64_t at = row * inner_;
        if (to_bytes_) {
          quantise_row(reinterpret_cast<const float*>(src) + at, scale, count, dst + at);
        } else {
          dequantise_row(src + at, scale, count, reinterpret_cast<float*>(dst) + at);
        }
      }
    });
    return {};
  }

 private:
  std::vector<ByteScale> scales_;
  int64_t rows_;
  int64_t inner_;
  bool to_bytes_;
};

class AddKernel final : public Kernel {
 public:
  AddKernel(ByteScale a, ByteScale b, ByteScale dst, int64_t count)
      : a_(a), b_(b), dst_(dst), count_(count) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    parallel_for(count_, kQuantiseGrain, [&](int64_t begin, int64_t end) {
      add_rows(args.inputs[0] + begin, a_, args.inputs[1] + begin, b_, dst_,
               static_cast<size_t>(end - begin), args.outputs[0] + begin);
    });
    return {};
  }

 private:
  ByteScale a_;
  ByteScale b_;
  ByteScale dst_;
  int64_t count_;
};

/// A factor for each channel, of all pictures or of each; channels last, or plane by plane.
class GateKernel final : public Kernel {
 public:
  GateKernel(ByteScale src, ByteScale dst, const Shape& shape, bool gate_per_picture, bool last)
      : src_(src),
        dst_(dst),
        pictures_(shape[0]),
        channels_(shape[1]),
        pixels_(shape[2] * shape[3]),
        gate_step_(gate_per_picture ? channels_ : 0),
        last_(last) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* gates = reinterpret_cast<const float*>(args.inputs[1]);
    if (!last_) {
      parallel_for(pictures_ * channels_, kQuantiseGrain / pixels_ + 1,
                   [&](int64_t begin, int64_t end) {
                     for (int64_t k = begin; k < end; ++k) {
                       const float gate = gates[k / channels_ * gate_step_ + k % channels_];
                       gate_rows(args.inputs[0] + k * pixels_, src_, &gate, dst_, 1,
                                 static_cast<size_t>(pixels_), args.outputs[0] + k * pixels_);
                     }
                   });
      return {};
    }
    for (int64_t n = 0; n < pictures_; ++n) {
      const int64_t first = n * pixels_ * channels_;
      parallel_for(pixels_, kQuantiseGrain / channels_ + 1, [&](int64_t begin, int64_t end) {
        const int64_t offset = first + begin * channels_;
        gate_rows(args.inputs[0] + offset, src_, gates + n * gate_step_, dst_,
                  static_cast<size_t>(channels_), static_cast<size_t>(end - begin),
                  args.outputs[0] + offset);
      });
    }
    return {};
  }

 private:
  ByteScale src_;
  ByteScale dst_;
  int64_t pictures_;
  int64_t channels_;
  int64_t pixels_;
  int64_t gate_step_;
  bool last_;
};

/// Means over pictures with the channels last.
class MeanKernel final : public Kernel {
 public:
  MeanKernel(ByteScale scale, const Shape& shape)
      : scale_(scale), pictures_(shape[0]), channels_(shape[1]), pixels_(shape[2] * shape[3]) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    const int64_t parts = (channels_ + kPart - 1) / kPart;
    parallel_for(pictures_ * parts, 4 * kQuantiseGrain / (pixels_ * kPart) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t n = k / parts;
                     const int64_t first = k % parts * kPart;
                     mean_rows(args.inputs[0] + n * pixels_ * channels_ + first, scale_,
                               static_cast<size_t>(std::min(kPart, channels_ - first)),
                               static_cast<size_t>(channels_), static_cast<size_t>(pixels_),
                               dst + n * channels_ + first);
                   }
                 });
    return {};
  }

 private:
  /// A cache line of channels.
  static constexpr int64_t kPart = 64;
  ByteScale scale_;
  int64_t pictures_;
  int64_t channels_;
  int64_t pixels_;
};

/// Quantised zero is not zero, so values in the padding of blocks would not stay 0.
Format without_padding(const TensorSpec& home) {
  return is_blocked(home.format) ? Format::Plain : home.format;
}

/// Pictures with a scale and a zero point per channel.
Result<bool> plan_quantise_channels(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const Shape& shape = dst.desc().shape;
  const ElementType type = dst.desc().type;
  std::optional<ConstantScale> scale = constant_scale(node, 1);
  if (!scale || !is_byte(type) || src.desc().type != ElementType::Float32 || shape.size() != 4 ||
      node.attributes().get_int("axis", 1) != 1 ||
      node.attributes().get_int("block_size", 0) != 0 || std::ssize(scale->scales) != shape[1] ||
      element_count(shape) == 0) {
    return false;
  }
  HET_ASSIGN(const TensorId in, builder.read(src, Format::ChannelsLast, ElementType::Float32));
  const TensorId out = builder.write(dst, {type, shape, Format::ChannelsLast});
  const std::vector<float> zeros(scale->zeros.begin(), scale->zeros.end());
  builder.add_step(node,
                   std::make_unique<QuantiseChannelsKernel>(
                       ChannelSteps(scale->scales, zeros, type == ElementType::Int8),
                       shape[0] * shape[2] * shape[3]),
                   {in}, {out});
  return true;
}

/// Any tensor with scales and zero points along a dimension, as it lies plain.
Result<bool> plan_scaled_rows(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const bool to_bytes = is_byte(dst.desc().type);
  const ElementType stored = (to_bytes ? dst : src).desc().type;
  const ElementType real = (to_bytes ? src : dst).desc().type;
  const Shape& shape = dst.desc().shape;
  const auto scale = constant_scale(node, 1);
  const auto axis = normalize_axis(node.attributes().get_int("axis", 1), std::ssize(shape));
  if (!scale || !axis || !is_byte(stored) || real != ElementType::Float32 ||
      node.attributes().get_int("block_size", 0) != 0 || element_count(shape) == 0 ||
      std::ssize(scale->scales) != shape[static_cast<size_t>(*axis)]) {
    return false;
  }
  std::vector<ByteScale> scales;
  for (size_t c = 0; c < scale->scales.size(); ++c) {
    scales.push_back(
        {scale->scales[c], static_cast<float>(scale->zeros[c]), stored == ElementType::Int8});
  }
  const int64_t inner = element_count(std::span(shape).subspan(static_cast<size_t>(*axis) + 1));
  HET_ASSIGN(const TensorId in, builder.read(src, Format::Plain, src.desc().type));
  const TensorId out = builder.write(dst, {dst.desc().type, shape, Format::Plain});
  builder.add_step(node,
                   std::make_unique<ScaledRowsKernel>(
                       std::move(scales), element_count(shape) / inner, inner, to_bytes),
                   {in}, {out});
  return true;
}

Result<bool> plan_quantise(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const auto scale = byte_scale(node, 1, dst.desc().type);
  if (!scale) {
    HET_ASSIGN(const bool is_planned, plan_quantise_channels(builder, node));
    return is_planned ? true : plan_scaled_rows(builder, node);
  }
  if (src.desc().type != ElementType::Float32) return false;
  const Format format = without_padding(builder.home(src));
  HET_ASSIGN(const TensorId in, builder.read(src, format, ElementType::Float32));
  const TensorId out = builder.write(dst, {dst.desc().type, dst.desc().shape, format});
  const int64_t count = element_count(dst.desc().shape);
  builder.add_step(node, std::make_unique<QuantiseKernel>(*scale, count), {in}, {out});
  return true;
}

Result<bool> plan_dequantise(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const auto scale = byte_scale(node, 1, src.desc().type);
  if (!scale) return plan_scaled_rows(builder, node);
  if (dst.desc().type != ElementType::Float32) return false;
  const Format format = without_padding(builder.home(src));
  HET_ASSIGN(const TensorId in, builder.read(src, format, src.desc().type));
  const TensorId out = builder.write(dst, {ElementType::Float32, dst.desc().shape, format});
  const int64_t count = element_count(dst.desc().shape);
  builder.add_step(node, std::make_unique<DequantiseKernel>(*scale, count), {in}, {out});
  return true;
}

/// The value, or a constant of bytes repeated to the whole shape.
Result<TensorId> read_broadcast(PlanBuilder& builder, const Value& value, const TensorSpec& spec) {
  if (value.desc().shape == spec.shape) return builder.read(value, spec.format, spec.type);
  HET_ASSIGN(Tensor whole, Tensor::allocate({spec.type, spec.shape}));
  const BroadcastPlan plan = plan_broadcast(spec.shape, std::array{value.desc().shape});
  const std::byte* src = value.constant().bytes();
  for_each_row<1>(plan, [&](int64_t to, const std::array<int64_t, 1>& from) {
    for (int64_t i = 0; i < plan.dims.back(); ++i) {
      whole.bytes()[to + i] = src[from[0] + i * plan.strides[0].back()];
    }
  });
  HET_ASSIGN(Tensor content, convert_constant(whole, spec));
  return builder.constant(std::move(content), spec);
}

/// com.microsoft.QLinearAdd: a, a_scale, a_zero, b, b_scale, b_zero, dst_scale, dst_zero.
Result<bool> plan_add(PlanBuilder& builder, const Node& node) {
  const Value& a = *node.input(0);
  const Value& b = *node.input(3);
  const Value& dst = *node.output();
  const ElementType type = dst.desc().type;
  if (a.desc() != dst.desc() || b.desc().type != type) return false;
  if (b.desc().shape != dst.desc().shape && !b.is_constant()) return false;
  const auto a_scale = byte_scale(node, 1, type);
  const auto b_scale = byte_scale(node, 4, type);
  const auto dst_scale = byte_scale(node, 6, type);
  if (!a_scale || !b_scale || !dst_scale) return false;
  const Format format = without_padding(builder.home(a.is_constant() ? b : a));
  HET_ASSIGN(const TensorId left, builder.read(a, format, type));
  HET_ASSIGN(const TensorId right, read_broadcast(builder, b, {type, dst.desc().shape, format}));
  const TensorId out = builder.write(dst, {type, dst.desc().shape, format});
  const int64_t count = element_count(dst.desc().shape);
  Step& step =
      builder.add_step(node, std::make_unique<AddKernel>(*a_scale, *b_scale, *dst_scale, count),
                       {left, right}, {out});
  step.in_place = InPlace::Input;
  return true;
}

ByteScale attribute_scale(const Attributes& a, const std::string& side, ElementType type) {
  return {a.get_float(side + "_scale", 1.0f), static_cast<float>(a.get_int(side + "_zero", 0)),
          type == ElementType::Int8};
}

/// het.MeanOfBytes (passes/quantise_operators.cpp): bytes [N,C,H,W] to float [N,C,1,1].
Result<bool> plan_mean(PlanBuilder& builder, const Node& node) {
  const TensorDesc& src = node.input(0)->desc();
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), Format::ChannelsLast, src.type));
  const TensorId out = builder.write(
      *node.output(), {ElementType::Float32, node.output()->desc().shape, Format::Plain});
  const ByteScale scale = attribute_scale(node.attributes(), "src", src.type);
  builder.add_step(node, std::make_unique<MeanKernel>(scale, src.shape), {in}, {out});
  return true;
}

/// het.GateBytes (passes/quantise_operators.cpp): bytes [N,C,H,W] and float gates [1 or N,C,1,1].
Result<bool> plan_gate(PlanBuilder& builder, const Node& node) {
  const TensorDesc& src = node.input(0)->desc();
  const TensorDesc& dst = node.output()->desc();
  const ByteScale src_scale = attribute_scale(node.attributes(), "src", src.type);
  const ByteScale dst_scale = attribute_scale(node.attributes(), "dst", dst.type);
  const Format format = without_padding(builder.home(*node.input(0)));
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), format, src.type));
  HET_ASSIGN(const TensorId gate,
             builder.read(*node.input(1), Format::Plain, ElementType::Float32));
  const TensorId out = builder.write(*node.output(), {dst.type, dst.shape, format});
  const bool gate_per_picture = node.input(1)->desc().shape[0] != 1;
  Step& step = builder.add_step(
      node,
      std::make_unique<GateKernel>(src_scale, dst_scale, src.shape, gate_per_picture,
                                   format == Format::ChannelsLast),
      {in, gate}, {out});
  if (src.type == dst.type) step.in_place = InPlace::Input;
  return true;
}

}  // namespace

HET_REGISTRATION void register_quantise(KernelRegistry& registry) {
  registry.add("", "QuantizeLinear", plan_quantise);
  registry.add("", "DequantizeLinear", plan_dequantise);
  registry.add("com.microsoft", "QLinearAdd", plan_add);
  registry.add("het", "GateBytes", plan_gate);
  registry.add("het", "MeanOfBytes", plan_mean);
}

}  // namespace het::cpu
