#include "devices/cpu/moves/transposed_reorder.h"

#include <algorithm>

#include "devices/cpu/loops/transpose_loops.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// With fewer channels or pixels squares of the loop do not fit, and oneDNN's code is as fast.
constexpr int64_t kFewest = 16;
/// Values that are worth a thread.
constexpr int64_t kTransposeGrain = 16 * 1024;

/// S and T: float or BFloat16, or both bytes. Loop order: image, strip of pixels.
template <class S, class T>
class TransposedReorder final : public Kernel {
 public:
  TransposedReorder(int64_t images, int64_t channels, int64_t pixels, bool to_pixels)
      : images_(images), channels_(channels), pixels_(pixels), to_pixels_(to_pixels) {}

  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const S*>(args.inputs[0]);
    auto* dst = reinterpret_cast<T*>(args.outputs[0]);
    // The last strip takes the rest, so that none is smaller than a square of the loop.
    const int64_t strips = std::max<int64_t>(pixels_ / kStrip, 1);
    const int64_t grain = std::max<int64_t>(kTransposeGrain / (kStrip * channels_), 1);
    parallel_for(images_ * strips, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t strip = i % strips;
        const int64_t first = strip * kStrip;
        const int64_t count = strip + 1 == strips ? pixels_ - first : kStrip;
        const int64_t image = i / strips * channels_ * pixels_;
        const int64_t planes = image + first;
        const int64_t rows = image + first * channels_;
        if (to_pixels_) {
          transpose({src + planes, pixels_}, {dst + rows, channels_}, channels_, count);
        } else {
          transpose({src + rows, channels_}, {dst + planes, pixels_}, count, channels_);
        }
      }
    });
    return {};
  }

 private:
  /// Pixels that are moved together, with all their channels.
  static constexpr int64_t kStrip = sizeof(S) == 1 ? 256 : 16;

  int64_t images_;
  int64_t channels_;
  int64_t pixels_;
  bool to_pixels_;
};

}  // namespace

std::unique_ptr<Kernel> make_transposed_reorder(const TensorSpec& src, const TensorSpec& dst) {
  const bool to_pixels = dst.format == Format::ChannelsLast;
  const Format planes = to_pixels ? src.format : dst.format;
  const Format pixels = to_pixels ? dst.format : src.format;
  const auto is_float = [](ElementType type) {
    return type == ElementType::Float32 || type == ElementType::BFloat16;
  };
  const bool bytes = src.type == dst.type && byte_width(src.type) == 1;
  if (planes != Format::Plain || pixels != Format::ChannelsLast || src.shape.size() < 3 ||
      !(bytes || (is_float(src.type) && is_float(dst.type)))) {
    return nullptr;
  }
  const int64_t images = src.shape[0];
  const int64_t channels = src.shape[1];
  int64_t count = 1;
  for (size_t d = 2; d < src.shape.size(); ++d) count *= src.shape[d];
  if (channels < kFewest || count < kFewest) return nullptr;
  const auto make = [&]<class S, class T>(S, T) -> std::unique_ptr<Kernel> {
    return std::make_unique<TransposedReorder<S, T>>(images, channels, count, to_pixels);
  };
  if (bytes) return make(uint8_t(), uint8_t());
  const bool widens = dst.type == ElementType::Float32;
  if (src.type == ElementType::Float32) {
    return widens ? make(float(), float()) : make(float(), BFloat16());
  }
  return widens ? make(BFloat16(), float()) : make(BFloat16(), BFloat16());
}

}  // namespace het::cpu
