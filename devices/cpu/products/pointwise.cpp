#include "devices/cpu/products/pointwise.h"

#include <algorithm>
#include <string>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/products/product_packing.h"
#include "devices/cpu/products/register_tail.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

class PointwiseKernel final : public Kernel {
 public:
  PointwiseKernel(const PointwiseShape& shape, const FusedTail& tail)
      : shape_(shape),
        tail_(make_register_tail(tail)),
        name_(std::string("own_1x1_") + simd_target()) {}

  Status pack(const Tensor& weights, const Tensor& bias, const NodePacking& packing) {
    HET_ASSIGN(packed_, pack_weights(packing, pointwise_weights_count(shape_) * sizeof(float),
                                     shape_.panels(), weights,
                                     [&](int64_t begin, int64_t end, std::byte* memory) {
                                       pack_pointwise_panels(
                                           shape_, reinterpret_cast<const float*>(weights.bytes()),
                                           begin, end, reinterpret_cast<float*>(memory));
                                     }));
    HET_ASSIGN(bias_, pack_bias(packing, bias, pointwise_bias_count(shape_)));
    return {};
  }

  std::string_view implementation() const override { return name_; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const int64_t team = team_size();
    const int64_t strips = strips_of(team);
    if (shape_.n * strips < team && shape_.panels() > 1) {
      for (int64_t n = 0; n < shape_.n; ++n) {
        parallel_for(shape_.panels(), 1, [&](int64_t begin, int64_t end) {
          multiply(args, n, {0, shape_.pixels, begin, end});
        });
      }
      return {};
    }
    parallel_for(shape_.n * strips, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        const int64_t strip = k % strips;
        multiply(args, k / strips,
                 {shape_.pixels * strip / strips, shape_.pixels * (strip + 1) / strips, 0,
                  shape_.panels()});
      }
    });
    return {};
  }

 private:
  /// Pixels of a strip stay in the second-level cache beside the weights and dst that pass by.
  /// There are as many strips as keep the team busy, unless each would be short or weights come
  /// from far memory: then threads have their own panels.
  int64_t strips_of(int64_t team) const {
    const int64_t near = second_level_bytes() / 2;
    const int64_t depth = std::min(shape_.ic, PointwiseShape::kMostDepth);
    const int64_t pixel_bytes = depth * static_cast<int64_t>(sizeof(float));
    const int64_t strips = (shape_.pixels * pixel_bytes + near - 1) / near;
    const int64_t parts = shape_.n * strips;
    if (parts % team == 0) return strips;
    if (parts > team) return shape_.n == 1 ? (strips + team - 1) / team * team : strips;
    const bool is_near =
        static_cast<int64_t>(pointwise_weights_count(shape_) * sizeof(float)) <= near;
    const bool fills_panels = shape_.panels() >= 4 * team || shape_.panels() % team == 0;
    const bool fills_rows = shape_.pixels >= 2 * team * pointwise_rows();
    return fills_rows && (is_near || !fills_panels) ? team : strips;
  }

  void multiply(const KernelArgs& args, int64_t n, const PointwisePart& part) const {
    const int64_t picture_in = shape_.ic_blocks() * shape_.block * shape_.pixels;
    const int64_t picture_out = shape_.oc_blocks() * shape_.block * shape_.pixels;
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]) + n * picture_in;
    auto* dst = reinterpret_cast<float*>(args.outputs[0]) + n * picture_out;
    PointwiseTail tail{nullptr, tail_.clip, tail_.low, tail_.high};
    if (tail_.has_sum) {
      tail.sum = reinterpret_cast<const float*>(args.inputs[1]) + n * picture_out;
    }
    const auto* packed = reinterpret_cast<const float*>(packed_->host());
    const auto* bias = reinterpret_cast<const float*>(bias_->host());
    if (tail_.rest.steps.empty()) {
      multiply_pointwise(shape_, part, src, packed, bias, tail, dst);
      return;
    }
    // The rest of the tail finds its operand in the caches.
    constexpr int64_t kPanelsOfRest = 8;
    PointwisePart some = part;
    for (some.panels_begin = part.panels_begin; some.panels_begin < part.panels_end;
         some.panels_begin = some.panels_end) {
      some.panels_end = std::min(some.panels_begin + kPanelsOfRest, part.panels_end);
      multiply_pointwise(shape_, some, src, packed, bias, tail, dst);
      run_rest(some, dst);
    }
  }

  void run_rest(const PointwisePart& part, float* dst) const {
    const int64_t last = std::min(2 * part.panels_end, shape_.oc_blocks());
    const int64_t pixels = part.pixels_end - part.pixels_begin;
    for (int64_t block = 2 * part.panels_begin; block < last; ++block) {
      float* const values = dst + (block * shape_.pixels + part.pixels_begin) * shape_.block;
      run_elementwise_in_place(tail_.rest, values, static_cast<size_t>(pixels * shape_.block));
      // Channels that fill up the last block stay 0, whatever the rest makes of it.
      const int64_t channels = std::min(shape_.oc - block * shape_.block, shape_.block);
      for (int64_t p = 0; channels < shape_.block && p < pixels; ++p) {
        std::fill(values + p * shape_.block + channels, values + (p + 1) * shape_.block, 0.0f);
      }
    }
  }

  PointwiseShape shape_;
  RegisterTail tail_;
  std::string name_;
  BufferPtr packed_;
  BufferPtr bias_;  ///< padded to whole panels
};

}  // namespace

std::optional<PointwiseShape> pointwise_shape(const ConvolutionSpec& spec, int64_t block) {
  const auto all = [](const std::vector<int64_t>& list, int64_t value) {
    return std::all_of(list.begin(), list.end(), [value](int64_t v) { return v == value; });
  };
  if (spec.src.type != ElementType::Float32 || spec.dst.type != ElementType::Float32 ||
      spec.weights_type != ElementType::Float32 || spec.transposed || spec.groups != 1 ||
      spec.src.shape.size() != 4 || spec.weights.size() != 4 || spec.weights[2] != 1 ||
      spec.weights[3] != 1 || !all(spec.strides, 1) || !all(spec.pads_begin, 0) ||
      spec.dst.shape[2] != spec.src.shape[2] || spec.dst.shape[3] != spec.src.shape[3] ||
      block != pointwise_block() || element_count(spec.src.shape) == 0 ||
      element_count(spec.dst.shape) == 0) {
    return std::nullopt;
  }
  return PointwiseShape{spec.src.shape[0], spec.src.shape[2] * spec.src.shape[3], spec.src.shape[1],
                        spec.dst.shape[1], block};
}

bool prefers_pointwise(const PointwiseShape& shape) {
  constexpr int64_t kFewPixels = 100;
  if (shape.block != 16) return false;  // others were not measured
  // oneDNN multiplies channels that only fill up a block, and leaves pixels of small pictures over.
  const bool fills_up = shape.ic % shape.block != 0 && shape.oc > shape.block;
  return fills_up || shape.pixels < kFewPixels;
}

Result<std::unique_ptr<Kernel>> make_pointwise_kernel(const PointwiseShape& shape,
                                                      const Tensor& weights, const Tensor& bias,
                                                      const FusedTail& tail,
                                                      const NodePacking& packing) {
  for (size_t i = 1; i < tail.size(); ++i) {
    if (tail[i].sum) return std::unique_ptr<Kernel>();
  }
  auto kernel = std::make_unique<PointwiseKernel>(shape, tail);
  HET_TRY(kernel->pack(weights, bias, packing));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace het::cpu
