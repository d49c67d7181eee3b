#include "devices/cpu/products/depthwise.h"

#include <algorithm>

#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/onednn/convolution_window.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// Multiply-adds that are worth a thread.
constexpr int64_t kDepthwiseGrain = 32768;

bool is_supported(ElementType type) {
  return type == ElementType::Float32 || type == ElementType::BFloat16;
}

std::optional<DepthwiseOp> depthwise_op(const PostOp& op) {
  using From = PostOp::Kind;
  using To = DepthwiseOp::Kind;
  switch (op.kind) {
    case From::Relu:
      return DepthwiseOp{To::Relu, op.alpha, 0.0f, {}};
    case From::Clip:
      return DepthwiseOp{To::Clip, op.alpha, op.beta, {}};
    case From::Linear:
      return DepthwiseOp{To::Linear, op.alpha, op.beta, {}};
    case From::HardSwish:
      return DepthwiseOp{To::HardSwish, 0.0f, 0.0f, {}};
    case From::Sigmoid:
      return DepthwiseOp{To::Sigmoid, 0.0f, 0.0f, {}};
    case From::Swish:
      return DepthwiseOp{To::Swish, op.alpha, 0.0f, {}};
    case From::Tanh:
      return DepthwiseOp{To::Tanh, 0.0f, 0.0f, {}};
    case From::GeluErf:
      return DepthwiseOp{To::GeluErf, 0.0f, 0.0f, {}};
    case From::GeluTanh:
      return DepthwiseOp{To::GeluTanh, 0.0f, 0.0f, {}};
    default:
      return std::nullopt;
  }
}

bool keeps_zero(const DepthwiseOp& op) {
  switch (op.kind) {
    case DepthwiseOp::Kind::Clip:
      return op.alpha <= 0.0f && op.beta >= 0.0f;
    case DepthwiseOp::Kind::Linear:
      return op.beta == 0.0f;
    case DepthwiseOp::Kind::Sigmoid:
      return false;
    default:
      return true;
  }
}

bool keep_padding(const DepthwiseShape& shape, const std::vector<DepthwiseOp>& ops) {
  return shape.block == 0 || shape.channels % shape.block == 0 ||
         std::ranges::all_of(ops, keeps_zero);
}

class DepthwiseKernel final : public Kernel {
 public:
  DepthwiseKernel(const DepthwiseShape& shape, std::vector<float> weights, std::vector<float> bias,
                  std::vector<DepthwiseOp> ops)
      : shape_(shape),
        weights_(std::move(weights)),
        bias_(std::move(bias)),
        ops_(std::move(ops)),
        units_(depthwise_units(shape)),
        unit_work_(shape.n * shape.channels * shape.oh * shape.ow * shape.taps() /
                   std::max<int64_t>(units_, 1)),
        scratch_floats_(static_cast<size_t>(depthwise_scratch_floats(shape))),
        team_(static_cast<size_t>(team_size())),
        name_(std::string(shape.multiplies_pairs ? "own_dw_pairs_" : "own_dw_") + simd_target()) {}

  std::string_view implementation() const override { return name_; }
  bool keeps_non_finite() const override { return !shape_.multiplies_pairs; }
  size_t scratch_bytes() const override { return team_ * scratch_floats_ * sizeof(float); }

  Status execute(const KernelArgs& args, KernelState*) const override {
    parallel_for(units_, kDepthwiseGrain / std::max<int64_t>(unit_work_, 1),
                 [&](int64_t begin, int64_t end) {
                   float* const scratch = reinterpret_cast<float*>(args.scratch) +
                                          static_cast<size_t>(team_part()) * scratch_floats_;
                   run_depthwise(shape_, args.inputs[0], weights_.data(), bias_.data(), ops_, begin,
                                 end, scratch, args.outputs[0]);
                 });
    return {};
  }

 private:
  DepthwiseShape shape_;
  std::vector<float> weights_;
  std::vector<float> bias_;
  std::vector<DepthwiseOp> ops_;
  int64_t units_;
  int64_t unit_work_;
  size_t scratch_floats_;
  size_t team_;
  std::string name_;
};

}  // namespace

std::optional<DepthwiseShape> depthwise_shape(const ConvolutionSpec& spec, Format format) {
  if (spec.transposed || spec.src.shape.size() != 4 || spec.weights.size() != 4 ||
      spec.groups != spec.src.shape[1] || spec.groups == 0 || spec.dst.shape[1] == 0 ||
      spec.dst.shape[1] % spec.groups != 0 || spec.weights[1] != 1 ||
      !is_supported(spec.src.type) || !is_supported(spec.dst.type)) {
    return std::nullopt;
  }
  DepthwiseShape shape;
  set_window(spec, shape);
  shape.channels = spec.dst.shape[1];
  shape.repeats = spec.dst.shape[1] / spec.groups;
  // A picture of one channel makes a dense convolution.
  if (spec.groups == 1 && shape.repeats > 1) return std::nullopt;
  shape.src = spec.src.type;
  shape.dst = spec.dst.type;
  if (is_blocked(format)) {
    shape.block = block_of(format);
    if (shape.block % depthwise_lanes() != 0) return std::nullopt;
  } else if (format != Format::ChannelsLast) {
    return std::nullopt;
  }
  return shape;
}

std::optional<std::vector<DepthwiseOp>> depthwise_ops(const DepthwiseShape& shape,
                                                      const std::vector<PostOp>& post_ops) {
  std::vector<DepthwiseOp> ops;
  for (const PostOp& post_op : post_ops) {
    std::optional<DepthwiseOp> op = depthwise_op(post_op);
    if (!op) return std::nullopt;
    ops.push_back(std::move(*op));
  }
  return keep_padding(shape, ops) ? std::optional(std::move(ops)) : std::nullopt;
}

bool choose_depthwise(const DepthwiseShape& shape) {
  const bool is_wide = shape.kw == 3 || shape.kw == 5 || shape.kw == 7;
  // Vectors of one channel would be all padding.
  if (shape.channels == 1 || !is_wide || shape.stride_x > 2 || shape.dilation_y != 1 ||
      shape.dilation_x != 1) {
    return false;
  }
  // oneDNN multiplies copied pixels then.
  if (shape.repeats > 1) return true;
  constexpr int64_t kAvx2Lanes = 8;
  if (depthwise_lanes() > kAvx2Lanes) return true;
  if (shape.src == ElementType::BFloat16) return shape.block == 0 && shape.kh == 3;
  // Below, the edges of the picture take what its middle gains.
  constexpr int64_t kLeastWidth = 28;
  return shape.block == kAvx2Lanes && depthwise_lanes() == kAvx2Lanes &&
         shape.dst == ElementType::Float32 && shape.stride_y == 1 && shape.stride_x == 1 &&
         shape.ow >= kLeastWidth && shape.kh == shape.kw && shape.kw <= 5;
}

std::unique_ptr<Kernel> make_depthwise_kernel(const DepthwiseShape& shape, const Tensor& weights,
                                              const Tensor& bias, std::vector<DepthwiseOp> ops) {
  const auto pack = [&](const Tensor& values, int64_t count) {
    return pack_depthwise(shape, reinterpret_cast<const float*>(values.bytes()), count);
  };
  const std::vector<float> none(static_cast<size_t>(shape.channels), 0.0f);
  const auto* const plain = reinterpret_cast<const float*>(weights.bytes());
  return std::make_unique<DepthwiseKernel>(
      shape,
      shape.multiplies_pairs ? pack_depthwise_pairs(shape, plain) : pack(weights, shape.taps()),
      bias.empty() ? pack_depthwise(shape, none.data(), 1) : pack(bias, 1), std::move(ops));
}

}  // namespace het::cpu
