#include "devices/cpu/channel_gather.h"

#include <algorithm>

#include "devices/cpu/parallel.h"

namespace het::cpu {
namespace {

/// Channels of a blocked float tensor in another order. Loop order: image, output block, pixel,
/// lane.
class ChannelGather final : public Kernel {
 public:
  ChannelGather(const TensorSpec& src, const std::vector<int64_t>& channels)
      : block_(block_of(src.format)), images_(src.shape[0]) {
    for (size_t i = 2; i < src.shape.size(); ++i) pixels_ *= src.shape[i];
    src_blocks_ = (src.shape[1] + block_ - 1) / block_;
    blocks_ = (static_cast<int64_t>(channels.size()) + block_ - 1) / block_;
    for (const int64_t from : channels) {
      offsets_.push_back(from / block_ * pixels_ * block_ + from % block_);
    }
  }

  std::string_view implementation() const override { return "own_blocked"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    const int64_t plane = pixels_ * block_;
    parallel_for(images_ * blocks_, std::max<int64_t>(8192 / std::max<int64_t>(plane, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t k = begin; k < end; ++k) {
                     gather_block(src + k / blocks_ * src_blocks_ * plane, k % blocks_,
                                  dst + k * plane);
                   }
                 });
    return {};
  }

 private:
  void gather_block(const float* image, int64_t block, float* dst) const {
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
  int64_t src_blocks_ = 0;
  int64_t blocks_ = 0;
  std::vector<int64_t> offsets_;  ///< per output channel: where pixel 0 of its source lies
};

}  // namespace

std::unique_ptr<Kernel> make_channel_gather(const TensorSpec& src,
                                            const std::vector<int64_t>& channels) {
  return std::make_unique<ChannelGather>(src, channels);
}

}  // namespace het::cpu
