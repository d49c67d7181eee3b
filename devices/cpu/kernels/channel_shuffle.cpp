#include <algorithm>

#include "devices/cpu/move_kernel.h"
#include "devices/cpu/parallel.h"
#include "devices/cpu/plan_builder.h"

namespace het::cpu {
namespace {

/// Channels of a blocked float tensor in another order. Loop order: image, output block, pixel,
/// lane.
class BlockedShuffle final : public Kernel {
 public:
  BlockedShuffle(const TensorSpec& spec, int64_t group)
      : block_(block_of(spec.format)), images_(spec.shape[0]) {
    const int64_t channels = spec.shape[1];
    for (size_t i = 2; i < spec.shape.size(); ++i) pixels_ *= spec.shape[i];
    blocks_ = (channels + block_ - 1) / block_;
    const int64_t part = channels / group;
    for (int64_t c = 0; c < channels; ++c) {
      const int64_t from = c % group * part + c / group;
      offsets_.push_back(from / block_ * pixels_ * block_ + from % block_);
    }
  }

  std::string_view implementation() const override { return "own_blocked"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    const int64_t plane = pixels_ * block_;
    parallel_for(
        images_ * blocks_, std::max<int64_t>(8192 / plane, 1), [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k) {
            shuffle_block(src + k / blocks_ * blocks_ * plane, k % blocks_, dst + k * plane);
          }
        });
    return {};
  }

 private:
  void shuffle_block(const float* image, int64_t block, float* dst) const {
    const auto channels = static_cast<int64_t>(offsets_.size());
    const int64_t lanes = std::min(block_, channels - block * block_);
    const int64_t* offsets = offsets_.data() + block * block_;
    for (int64_t p = 0; p < pixels_; ++p) {
      const float* pixel = image + p * block_;
      for (int64_t i = 0; i < lanes; ++i) dst[p * block_ + i] = pixel[offsets[i]];
      for (int64_t i = lanes; i < block_; ++i) dst[p * block_ + i] = 0.0f;
    }
  }

  int64_t block_;
  int64_t images_;
  int64_t pixels_ = 1;
  int64_t blocks_ = 0;
  std::vector<int64_t> offsets_;  ///< per output channel: where pixel 0 of its source lies
};

Result<bool> plan_channel_shuffle(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const Shape& shape = src.desc().shape;
  const int64_t group = node.attributes().get_int("group", 1);
  const Format home = builder.home(src).format;
  const TensorSpec spec{ElementType::Float32, shape, is_blocked(home) ? home : Format::Plain};
  HET_ASSIGN(const TensorId in, builder.read(src, spec.format, ElementType::Float32));
  const TensorId out = builder.write(dst, spec);
  if (is_blocked(spec.format)) {
    builder.add_step(node, std::make_unique<BlockedShuffle>(spec, group), {in}, {out});
    return true;
  }
  int64_t pixels = 1;
  for (size_t i = 2; i < shape.size(); ++i) pixels *= shape[i];
  const int64_t part = shape[1] / group;
  StridedMove loops({shape[0], part, group, pixels}, {shape[1] * pixels, pixels, part * pixels, 1},
                    {shape[1] * pixels, group * pixels, pixels, 1}, sizeof(float));
  builder.add_step(node, make_move_kernel({{std::move(loops), 0, 0}}), {in}, {out});
  return true;
}

}  // namespace

void register_channel_shuffle(KernelRegistry& registry) {
  registry.add("het", "ChannelShuffle", plan_channel_shuffle);
}

}  // namespace het::cpu
