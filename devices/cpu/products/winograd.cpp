#include "devices/cpu/products/winograd.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "devices/cpu/formats/cache_size.h"
#include "devices/cpu/loops/simd_target.h"
#include "devices/cpu/products/product_packing.h"
#include "devices/cpu/products/register_tail.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

/// What one core may keep close: half of its second-level cache.
int64_t near_bytes() {
  return std::clamp<int64_t>(second_level_bytes() / 2, int64_t{256} << 10, int64_t{1} << 20);
}

/// Tiles from which on a set of weights is read often enough to cost little.
constexpr int64_t kFewTiles = 14;
/// Two register tiles with AVX-512: more of them gain nothing and fill the caches.
constexpr int64_t kManyTiles = 28;
/// Up to here one set of tiles is not cut.
constexpr int64_t kOneSet = 56;

/// How the tiles are cut into sets, whose transformed values stay close while all weights pass by.
struct TileSets {
  int64_t count = 1;
  int64_t largest = 1;  ///< tiles of a set
  /// The team works on one set after the other, each thread on its output channels; otherwise each
  /// thread has its own sets.
  bool shared = true;
};

TileSets cut_tiles(const WinogradShape& shape, int64_t team) {
  const int64_t tile_bytes = shape.ic_blocks() * shape.block * shape.src_values() * 4;
  TileSets sets;
  if (shape.late_weights) {
    // Weights are transformed anew for each set: the third level has to help.
    const int64_t wanted = std::max(4 * near_bytes() / tile_bytes, kFewTiles);
    sets.count = (shape.tiles() + wanted - 1) / wanted;
  } else {
    const int64_t fitting = std::max(near_bytes() / tile_bytes, kFewTiles);
    if (shape.tiles() > std::min(fitting, kOneSet)) {
      const int64_t wanted = std::min(fitting, kManyTiles);
      sets.count = (shape.tiles() + wanted - 1) / wanted;
      sets.shared = sets.count < team;
      if (!sets.shared) sets.count = (sets.count + team - 1) / team * team;
    }
  }
  sets.largest = (shape.tiles() + sets.count - 1) / sets.count;
  return sets;
}

/// Multiply-adds that take as long as a value that comes from memory, from the third-level cache,
/// as a value's transformation before or behind the products (of bfloat16 with its conversion),
/// and as that of a late weight.
/// Measured on one core of a Zen 4, which multiplies 16 floats a cycle as those with AVX2 do; there
/// oneDNN's direct kernels reach 0.8 of the peak, products with packed weights 0.87, with late ones
/// 0.65.
constexpr double kFromMemory = 12.0;
constexpr double kFromCache = 5.0;
constexpr double kTransformed = 9.0;
constexpr double kTransformedNarrow = 12.0;
constexpr double kLate = 5.5;

/// Taps of a window, over all results of one dimension, that meet values and no padding.
int64_t taps_inside(int64_t results, int64_t pad, int64_t size) {
  int64_t taps = 0;
  for (int64_t i = 0; i < results; ++i) {
    const int64_t begin = 2 * i - pad;
    taps += std::max<int64_t>(std::min(begin + 3, size) - std::max<int64_t>(begin, 0), 0);
  }
  return taps;
}

/// Taps over all results. oneDNN's kernels skip those in padding, which small pictures show.
double direct_taps(const WinogradShape& shape) {
  if (shape.stride == 1) return 9.0 * static_cast<double>(shape.n * shape.oh * shape.ow);
  return static_cast<double>(shape.n * taps_inside(shape.oh, shape.pad_top, shape.ih) *
                             taps_inside(shape.ow, shape.pad_left, shape.iw));
}

double estimated_direct_cost(const WinogradShape& shape, double speed) {
  // Channels that lie last are not filled up.
  const int64_t ic = shape.src.channels_last ? shape.ic : shape.ic_blocks() * shape.block;
  const auto pairs = static_cast<double>(ic * shape.oc_blocks() * shape.block);
  const bool far = pairs * 36.0 > static_cast<double>(near_bytes());
  return pairs * (direct_taps(shape) / 0.8 + (far ? 9.0 * kFromMemory : 0.0)) / speed;
}

double estimated_cost(const WinogradShape& shape) {
  const auto ic = static_cast<double>(shape.ic_blocks() * shape.block);
  const auto oc = static_cast<double>(shape.oc_blocks() * shape.block);
  const auto src_values = static_cast<double>(shape.src_values());
  const auto points = static_cast<double>(shape.points());
  const auto tiles = static_cast<double>(shape.tiles());
  const auto sets = static_cast<double>(cut_tiles(shape, 1).count);
  const double products = tiles * src_values * ic * oc;
  const double weights = static_cast<double>(shape.weight_values()) * ic * oc;
  const auto transformed = [](const WinogradPicture& picture) {
    return picture.type == ElementType::BFloat16 ? kTransformedNarrow : kTransformed;
  };
  const double transforms =
      tiles * (transformed(shape.src) * src_values * ic + transformed(shape.dst) * points * oc);
  if (shape.late_weights) return products / 0.65 + transforms + kLate * weights * sets;
  const bool far = weights * 4.0 > static_cast<double>(near_bytes());
  return products / 0.87 + transforms +
         (far ? weights * (kFromMemory + kFromCache * (sets - 1.0)) : 0.0);
}

class WinogradKernel final : public Kernel {
 public:
  WinogradKernel(const WinogradShape& shape, const FusedTail& tail)
      : shape_(shape),
        team_(team_size()),
        sets_(cut_tiles(shape, team_)),
        src_count_(winograd_src_count(shape, sets_.largest)),
        products_count_(winograd_products_count(shape, sets_.largest)),
        name_(fmt::format("winograd_f{}{}_{}", shape.m, shape.stride == 2 ? "_stride2" : "",
                          simd_target())),
        tail_(make_register_tail(tail)) {}

  Status pack(const Tensor& weights, const Tensor& bias, const NodePacking& packing) {
    HET_ASSIGN(packed_, pack_weights(packing, winograd_weights_count(shape_) * sizeof(float),
                                     winograd_groups(shape_), weights,
                                     [&](int64_t begin, int64_t end, std::byte* memory) {
                                       const auto* plain =
                                           reinterpret_cast<const float*>(weights.bytes());
                                       for (int64_t group = begin; group < end; ++group) {
                                         pack_winograd_weights(shape_, plain, group,
                                                               reinterpret_cast<float*>(memory));
                                       }
                                     }));
    const auto channels = static_cast<size_t>(shape_.oc_blocks() * shape_.block);
    HET_ASSIGN(bias_, pack_bias(packing, bias, channels));
    return {};
  }

  std::string_view implementation() const override { return name_; }
  /// The transforms take differences of pixels.
  bool keeps_non_finite() const override { return false; }

  size_t scratch_bytes() const override {
    const auto team = static_cast<size_t>(team_);
    return (src_count_ * (sets_.shared ? 1 : team) + products_count_ * team) * sizeof(float);
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    auto* const scratch = reinterpret_cast<float*>(args.scratch);
    const std::byte* src = args.inputs[0];
    std::byte* dst = args.outputs[0];
    WinogradTail tail{nullptr, tail_.clip, tail_.low, tail_.high, nullptr};
    if (tail_.has_sum) tail.sum = args.inputs[1];
    if (!tail_.rest.steps.empty()) tail.rest = &tail_.rest;
    if (!sets_.shared) {
      in_slots(team_, sets_.count, [&](int64_t slot, int64_t begin, int64_t end) {
        float* transformed = scratch + static_cast<size_t>(slot) * (src_count_ + products_count_);
        for (int64_t set = begin; set < end; ++set) {
          const int64_t first = first_tile(set);
          const int64_t tiles = first_tile(set + 1) - first;
          transform_winograd_src(shape_, src, first, tiles, 0, shape_.ic_blocks(), transformed);
          run_groups(0, winograd_groups(shape_), first, tiles, transformed, tail,
                     transformed + src_count_, dst);
        }
      });
      return {};
    }
    for (int64_t set = 0; set < sets_.count; ++set) {
      const int64_t first = first_tile(set);
      const int64_t tiles = first_tile(set + 1) - first;
      parallel_for(shape_.ic_blocks(), 1, [&](int64_t begin, int64_t end) {
        transform_winograd_src(shape_, src, first, tiles, begin, end, scratch);
      });
      in_slots(team_, winograd_groups(shape_), [&](int64_t slot, int64_t begin, int64_t end) {
        run_groups(begin, end, first, tiles, scratch, tail,
                   scratch + src_count_ + static_cast<size_t>(slot) * products_count_, dst);
      });
    }
    return {};
  }

 private:
  const float* packed() const { return reinterpret_cast<const float*>(packed_->host()); }
  const float* bias() const { return reinterpret_cast<const float*>(bias_->host()); }
  int64_t first_tile(int64_t set) const { return shape_.tiles() * set / sets_.count; }

  void run_groups(int64_t begin, int64_t end, int64_t first, int64_t tiles,
                  const float* transformed, const WinogradTail& tail, float* products,
                  std::byte* dst) const {
    for (int64_t group = begin; group < end; ++group) {
      multiply_winograd_group(shape_, transformed, first, tiles, packed(), bias(), group, tail,
                              products, dst);
    }
  }

  WinogradShape shape_;
  int64_t team_;
  TileSets sets_;
  size_t src_count_;
  size_t products_count_;
  std::string name_;
  BufferPtr packed_;
  BufferPtr bias_;  ///< padded to whole blocks
  RegisterTail tail_;
};

}  // namespace

std::optional<WinogradShape> winograd_shape(const ConvolutionSpec& spec, int64_t block) {
  const auto all = [](const std::vector<int64_t>& list, int64_t value) {
    return std::all_of(list.begin(), list.end(), [value](int64_t v) { return v == value; });
  };
  const auto is_float = [](ElementType type) {
    return type == ElementType::Float32 || type == ElementType::BFloat16;
  };
  if (!is_float(spec.src.type) || !is_float(spec.dst.type) || !is_float(spec.weights_type) ||
      spec.transposed || spec.groups != 1 || spec.src.shape.size() != 4 ||
      spec.weights.size() != 4 || spec.weights[2] != 3 || spec.weights[3] != 3 ||
      spec.strides.empty() || !all(spec.strides, spec.strides[0]) || !all(spec.dilations, 1) ||
      (block != 8 && block != 16)) {
    return std::nullopt;
  }
  WinogradShape shape;
  shape.stride = spec.strides[0];
  const bool in_float = spec.src.type == ElementType::Float32 &&
                        spec.dst.type == ElementType::Float32 &&
                        spec.weights_type == ElementType::Float32;
  if (shape.stride != 1 && (shape.stride != 2 || !in_float)) return std::nullopt;
  shape.n = spec.src.shape[0];
  shape.ic = spec.src.shape[1];
  shape.ih = spec.src.shape[2];
  shape.iw = spec.src.shape[3];
  shape.oc = spec.dst.shape[1];
  shape.oh = spec.dst.shape[2];
  shape.ow = spec.dst.shape[3];
  shape.pad_top = spec.pads_begin[0];
  shape.pad_left = spec.pads_begin[1];
  shape.block = block;
  shape.src.type = spec.src.type;
  shape.dst.type = spec.dst.type;
  shape.src.channels_last = spec.src_format == Format::ChannelsLast;
  shape.dst.channels_last = spec.dst_format == Format::ChannelsLast;
  if (shape.ic < shape.block || shape.oc < shape.block) return std::nullopt;
  return shape;
}

std::string winograd_name(const WinogradShape& shape) {
  return fmt::format("winograd_f{}{}", shape.m, shape.late_weights ? "_late" : "");
}

std::vector<WinogradShape> winograd_variants(WinogradShape shape) {
  std::vector<WinogradShape> variants;
  for (const int64_t m : {4, 2}) {
    // Late weights first: they take less memory.
    for (const bool late : {true, false}) {
      shape.m = m;
      shape.late_weights = late;
      variants.push_back(shape);
    }
  }
  return variants;
}

std::optional<WinogradShape> choose_winograd(WinogradShape shape, double direct_speed) {
  // Less is within what the estimate misses.
  constexpr double kGain = 0.95;
  std::optional<WinogradShape> best;
  double least = kGain * estimated_direct_cost(shape, direct_speed);
  for (const WinogradShape& variant : winograd_variants(shape)) {
    const double cost = estimated_cost(variant);
    if (cost >= least) continue;
    least = cost;
    best = variant;
  }
  return best;
}

double winograd_error_bound(int64_t m) {
  return m == 2 ? 1e-6 : m == 4 ? 4e-6 : 1.5e-5;
}

Result<std::unique_ptr<Kernel>> make_winograd_kernel(const WinogradShape& shape,
                                                     const Tensor& weights, const Tensor& bias,
                                                     const FusedTail& tail,
                                                     const NodePacking& packing) {
  auto kernel = std::make_unique<WinogradKernel>(shape, tail);
  HET_TRY(kernel->pack(weights, bias, packing));
  return std::unique_ptr<Kernel>(std::move(kernel));
}

}  // namespace het::cpu
