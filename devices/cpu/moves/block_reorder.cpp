#include "devices/cpu/moves/block_reorder.h"

#include <algorithm>

#include "devices/cpu/loops/block_copy_loops.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// Pixels that are moved together, with all their channels.
constexpr int64_t kBlockStrip = 64;
/// Values that are worth a thread.
constexpr int64_t kBlockGrain = 16 * 1024;

/// Loop order: image, strip of pixels.
class BlockReorder final : public Kernel {
 public:
  BlockReorder(const TensorSpec& src, const TensorSpec& dst, int64_t block)
      : to_pixels_(dst.format == Format::ChannelsLast),
        from_(src.type),
        to_(dst.type),
        images_(src.shape[0]),
        channels_(src.shape[1]),
        pixels_(element_count(std::span(src.shape).subspan(2))),
        block_(block) {}

  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const int64_t strips = (pixels_ + kBlockStrip - 1) / kBlockStrip;
    const int64_t grain = std::max<int64_t>(kBlockGrain / (kBlockStrip * channels_), 1);
    const int64_t padded = (channels_ + block_ - 1) / block_ * block_;
    parallel_for(images_ * strips, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t image = i / strips;
        const int64_t first = i % strips * kBlockStrip;
        const int64_t count = std::min(kBlockStrip, pixels_ - first);
        const BlockCopy copy{count, channels_, block_, pixels_ * block_};
        const int64_t in_blocks = image * padded * pixels_ + first * block_;
        const int64_t in_pixels = (image * pixels_ + first) * channels_;
        const std::byte* const src =
            args.inputs[0] + (to_pixels_ ? in_blocks : in_pixels) * width(from_);
        std::byte* const dst = args.outputs[0] + (to_pixels_ ? in_pixels : in_blocks) * width(to_);
        if (to_pixels_) {
          copy_to_pixels(copy, from_, src, to_, dst);
        } else {
          copy_to_blocks(copy, from_, src, to_, dst);
        }
      }
    });
    return {};
  }

 private:
  static int64_t width(ElementType type) { return static_cast<int64_t>(byte_width(type)); }

  bool to_pixels_;
  ElementType from_;
  ElementType to_;
  int64_t images_;
  int64_t channels_;
  int64_t pixels_;
  int64_t block_;
};

}  // namespace

std::unique_ptr<Kernel> make_block_reorder(const TensorSpec& src, const TensorSpec& dst) {
  const bool to_pixels = dst.format == Format::ChannelsLast;
  const Format blocks = to_pixels ? src.format : dst.format;
  const Format pixels = to_pixels ? dst.format : src.format;
  const auto is_known = [](ElementType type) {
    return type == ElementType::Float32 || type == ElementType::BFloat16;
  };
  if (!is_blocked(blocks) || pixels != Format::ChannelsLast || src.shape.size() < 3 ||
      physical_count(src) == 0 || !is_known(src.type) || !is_known(dst.type)) {
    return nullptr;
  }
  return std::make_unique<BlockReorder>(src, dst, block_of(blocks));
}

}  // namespace het::cpu
