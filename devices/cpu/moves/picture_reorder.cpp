#include "devices/cpu/moves/picture_reorder.h"

#include <algorithm>

#include "devices/cpu/loops/half_loops.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/tensors/element_type.h"

namespace het::cpu {
namespace {

constexpr int64_t kChannels = 3;
/// Pixels that are worth a thread.
constexpr int64_t kPictureGrain = 4096;

/// Loop order: image, pixel.
class PictureReorder final : public Kernel {
 public:
  PictureReorder(int64_t images, int64_t pixels) : images_(images), pixels_(pixels) {}

  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    parallel_for(images_ * pixels_, kPictureGrain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t pixel = begin % pixels_;
        const int64_t stop = std::min(end, begin - pixel + pixels_);
        const int64_t image = (begin - pixel) * kChannels;
        float_planes_to_bfloat16_pixels(
            reinterpret_cast<const float*>(args.inputs[0]) + image + pixel,
            static_cast<size_t>(pixels_), static_cast<size_t>(stop - begin),
            reinterpret_cast<BFloat16*>(args.outputs[0]) + image + pixel * kChannels);
        begin = stop;
      }
    });
    return {};
  }

 private:
  int64_t images_;
  int64_t pixels_;
};

}  // namespace

std::unique_ptr<Kernel> make_picture_reorder(const TensorSpec& src, const TensorSpec& dst) {
  const bool fits = src.type == ElementType::Float32 && src.format == Format::Plain &&
                    dst.type == ElementType::BFloat16 && dst.format == Format::ChannelsLast &&
                    src.shape.size() > 2 && src.shape[1] == kChannels;
  if (!fits) return nullptr;
  int64_t pixels = 1;
  for (size_t d = 2; d < src.shape.size(); ++d) pixels *= src.shape[d];
  return std::make_unique<PictureReorder>(src.shape[0], pixels);
}

}  // namespace het::cpu
