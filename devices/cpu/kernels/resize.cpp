#include "inference/ops/windows/resize.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "devices/cpu/loops/weighing_loops.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Taps of one dimension in the types of the inner loops.
struct Axis {
  int64_t in = 1;
  int64_t out = 1;
  size_t taps = 1;
  std::vector<int32_t> index;
  std::vector<float> weight;
};

Axis make_axis(const ResizeSettings& settings, const ResizeDim& dim) {
  if (dim.is_identity(settings.coordinates)) {
    // It passes, whatever the mode would round its positions to.
    const auto count = static_cast<size_t>(dim.out);
    Axis axis{dim.in, dim.out, 1, std::vector<int32_t>(count), std::vector<float>(count, 1.0f)};
    std::iota(axis.index.begin(), axis.index.end(), 0);
    return axis;
  }
  const ResizeTaps taps = resize_taps(settings, dim);
  Axis axis{dim.in, dim.out, taps.taps, {}, {}};
  for (const int64_t i : taps.index) axis.index.push_back(static_cast<int32_t>(i));
  for (const double w : taps.weight) axis.weight.push_back(static_cast<float>(w));
  return axis;
}

Axis unchanged() {
  return {1, 1, 1, {0}, {1.0f}};
}

/// By tap instead of by position.
template <class T>
std::vector<T> by_tap(const std::vector<T>& values, size_t taps) {
  std::vector<T> result(values.size());
  const size_t count = values.size() / taps;
  for (size_t i = 0; i < values.size(); ++i) result[i % taps * count + i / taps] = values[i];
  return result;
}

constexpr size_t kMostTaps = 4;

/// True when the rows of every output row fall on different slots, by row modulo taps.
bool have_own_slots(const Axis& axis) {
  for (size_t first = 0; first < axis.index.size(); first += axis.taps) {
    for (size_t i = 0; i < axis.taps; ++i) {
      for (size_t k = 0; k < i; ++k) {
        const int32_t distance = axis.index[first + i] - axis.index[first + k];
        if (distance != 0 && distance % static_cast<int32_t>(axis.taps) == 0) return false;
      }
    }
  }
  return true;
}

/// Planes of [height, width, lanes] of T, float or BFloat16 (which has lanes), by plane and output
/// row. Where rows become more, those of the source are resized along the width first and kept for
/// the next output rows; otherwise the row's taps are combined over the whole width, then along it.
/// Between the two directions values are float.
template <class T>
class ResizeKernel final : public Kernel {
 public:
  ResizeKernel(int64_t planes, int64_t lanes, Axis y, Axis x, size_t team)
      : planes_(planes),
        lanes_(lanes),
        y_(std::move(y)),
        x_(std::move(x)),
        keeps_rows_(y_.taps > 1 && y_.out > y_.in && have_own_slots(y_)),
        team_(team) {
    if (lanes_ > 1 || x_.taps == 1) return;
    x_.index = by_tap(x_.index, x_.taps);
    x_.weight = by_tap(x_.weight, x_.taps);
  }

  std::string_view implementation() const override { return "own_simd"; }
  size_t scratch_bytes() const override { return team_ * scratch_floats() * sizeof(float); }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const T*>(args.inputs[0]);
    auto* dst = reinterpret_cast<T*>(args.outputs[0]);
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const int64_t row = x_.out * lanes_;
    parallel_for(planes_ * y_.out, std::max<int64_t>(8192 / std::max<int64_t>(row, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   float* own = scratch + static_cast<size_t>(team_part()) * scratch_floats();
                   std::array<const T*, kMostTaps> kept{};
                   for (int64_t k = begin; k < end; ++k) {
                     const T* plane = src + k / y_.out * y_.in * x_.in * lanes_;
                     if (keeps_rows_) {
                       combine_kept(plane, k % y_.out, kept, own, dst + k * row);
                     } else {
                       resize_row(plane, k % y_.out, own, dst + k * row);
                     }
                   }
                 });
    return {};
  }

 private:
  size_t row_floats() const {
    const int64_t width = keeps_rows_ ? x_.out : x_.in;
    return (static_cast<size_t>(width * lanes_) + 15) / 16 * 16;
  }
  size_t scratch_floats() const { return (keeps_rows_ ? y_.taps : 1) * row_floats(); }

  /// `kept` has the source row that each slot of `own` was made from.
  void combine_kept(const T* plane, int64_t y, std::array<const T*, kMostTaps>& kept, float* own,
                    T* dst) const {
    std::array<const float*, kMostTaps> taps{};
    const int32_t* rows = y_.index.data() + static_cast<size_t>(y) * y_.taps;
    for (size_t t = 0; t < y_.taps; ++t) {
      const size_t slot = static_cast<size_t>(rows[t]) % y_.taps;
      const T* const row = plane + rows[t] * x_.in * lanes_;
      float* const made = own + slot * row_floats();
      if (kept[slot] != row) resize_along(row, made);
      kept[slot] = row;
      taps[t] = made;
    }
    weigh_rows(taps.data(), y_.weight.data() + static_cast<size_t>(y) * y_.taps, y_.taps,
               static_cast<size_t>(x_.out * lanes_), dst);
  }

  void resize_row(const T* plane, int64_t y, float* own, T* dst) const {
    const int64_t stride = x_.in * lanes_;
    const int32_t* rows = y_.index.data() + static_cast<size_t>(y) * y_.taps;
    if constexpr (std::is_same_v<T, float>) {
      if (y_.taps == 1) return resize_along(plane + rows[0] * stride, dst);
    }
    std::array<const T*, kMostTaps> taps{};
    for (size_t t = 0; t < y_.taps; ++t) taps[t] = plane + rows[t] * stride;
    weigh_rows(taps.data(), y_.weight.data() + static_cast<size_t>(y) * y_.taps, y_.taps,
               static_cast<size_t>(stride), own);
    resize_along(own, dst);
  }

  template <class From, class To>
  void resize_along(const From* src, To* dst) const {
    const auto pixels = static_cast<size_t>(x_.out);
    if constexpr (std::is_same_v<From, float> && std::is_same_v<To, float>) {
      if (x_.taps == 1) return copy_pixels(src, dst);
      if (lanes_ == 1) {
        return weigh_gathered(src, x_.index.data(), x_.weight.data(), x_.taps, pixels, dst);
      }
    }
    weigh_pixels(src, x_.index.data(), x_.weight.data(), x_.taps, pixels,
                 static_cast<size_t>(lanes_), dst);
  }

  void copy_pixels(const float* src, float* dst) const {
    for (const int32_t x : x_.index) {
      std::copy_n(src + x * lanes_, lanes_, dst);
      dst += lanes_;
    }
  }

  int64_t planes_;
  int64_t lanes_;
  Axis y_;
  Axis x_;
  bool keeps_rows_;
  size_t team_;
};

/// Rows of one tap in both directions: pixels of `pixel_bytes` are copied, rows that come again as
/// a whole.
class NearestKernel final : public Kernel {
 public:
  NearestKernel(int64_t planes, int64_t pixel_bytes, Axis y, Axis x)
      : planes_(planes), pixel_bytes_(pixel_bytes), y_(std::move(y)), x_(std::move(x)) {}

  std::string_view implementation() const override { return "own_copy"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const int64_t row = x_.out * pixel_bytes_;
    parallel_for(planes_ * y_.out, std::max<int64_t>(32768 / std::max<int64_t>(row, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   const std::byte* last = nullptr;
                   for (int64_t k = begin; k < end; ++k) {
                     const int64_t y = y_.index[static_cast<size_t>(k % y_.out)];
                     const std::byte* src =
                         args.inputs[0] + (k / y_.out * y_.in + y) * x_.in * pixel_bytes_;
                     std::byte* dst = args.outputs[0] + k * row;
                     if (src == last) {
                       std::memcpy(dst, dst - row, static_cast<size_t>(row));
                     } else {
                       copy_pixels(src, dst);
                     }
                     last = src;
                   }
                 });
    return {};
  }

 private:
  void copy_pixels(const std::byte* src, std::byte* dst) const {
    const auto bytes = static_cast<size_t>(pixel_bytes_);
    for (const int32_t x : x_.index) {
      std::memcpy(dst, src + x * pixel_bytes_, bytes);
      dst += bytes;
    }
  }

  int64_t planes_;
  int64_t pixel_bytes_;
  Axis y_;
  Axis x_;
};

/// Blocks and channels that lie together stay so, unless most of a block would be padding or
/// vectors would not be filled.
Format resize_format(const TensorSpec& home) {
  const int64_t channels = home.shape[1];
  if (is_blocked(home.format)) {
    return channels * 2 <= block_of(home.format) ? Format::Plain : home.format;
  }
  const bool fills_vectors = channels >= static_cast<int64_t>(kFewestLanes);
  return home.format == Format::ChannelsLast && fills_vectors ? home.format : Format::Plain;
}

/// Models show plain results: where only they read a larger picture, the smaller one is turned.
bool is_shown_larger(const Value& src, const Value& dst) {
  return dst.consumers().empty() &&
         element_count(dst.desc().shape) > element_count(src.desc().shape);
}

template <class T>
std::unique_ptr<Kernel> make_kernel(int64_t planes, int64_t lanes, Axis y, Axis x) {
  return std::make_unique<ResizeKernel<T>>(planes, lanes, std::move(y), std::move(x),
                                           static_cast<size_t>(team_size()));
}

Result<bool> plan_resize(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const Shape& shape = src.desc().shape;
  const bool is_bytes =
      src.desc().type == ElementType::UInt8 || src.desc().type == ElementType::Int8;
  if ((src.desc().type != ElementType::Float32 && !is_bytes) || shape.size() < 3 ||
      shape.size() > 4 || element_count(shape) == 0) {
    return false;
  }
  std::array<const Tensor*, 3> parameters{};
  for (size_t i = 1; i <= 3; ++i) {
    if (node.input(i) == nullptr) continue;
    if (!node.input(i)->is_constant()) return false;
    parameters[i - 1] = &node.input(i)->constant();
  }
  HET_ASSIGN(const ResizeSettings settings, resize_settings(node.attributes()));
  if (settings.coordinates == ResizeCoordinates::TfCropAndResize) return false;
  HET_ASSIGN(const std::vector<ResizeDim> dims,
             resize_dims(settings, shape, parameters[0], parameters[1], parameters[2]));
  if (!dims[0].is_identity(settings.coordinates) || !dims[1].is_identity(settings.coordinates)) {
    return false;
  }
  Axis y = shape.size() == 4 ? make_axis(settings, dims[2]) : unchanged();
  Axis x = make_axis(settings, dims.back());
  if (std::max(y.taps, x.taps) > kMostTaps) return false;

  const bool copies = y.taps == 1 && x.taps == 1;
  if (is_bytes && !copies) return false;
  const Format format =
      !copies && is_shown_larger(src, dst) ? Format::Plain : resize_format(builder.home(src));
  const int64_t block = format == Format::ChannelsLast ? shape[1] : block_of(format);
  const int64_t planes = shape[0] * ((shape[1] + block - 1) / block);
  if (is_bytes || (block > 1 && copies)) {
    const ElementType type = is_bytes ? src.desc().type : builder.kept_type(dst);
    const auto pixel_bytes = block * static_cast<int64_t>(byte_width(type));
    HET_ASSIGN(const TensorId in, builder.read(src, format, type));
    const TensorId out = builder.write(dst, {type, dst.desc().shape, format});
    builder.add_step(
        node, std::make_unique<NearestKernel>(planes, pixel_bytes, std::move(y), std::move(x)),
        {in}, {out});
    return true;
  }
  const ElementType type = block > 1 ? builder.kept_type(dst) : ElementType::Float32;
  HET_ASSIGN(const TensorId in, builder.read(src, format, type));
  const TensorId out = builder.write(dst, {type, dst.desc().shape, format});
  builder.add_step(node,
                   type == ElementType::BFloat16
                       ? make_kernel<BFloat16>(planes, block, std::move(y), std::move(x))
                       : make_kernel<float>(planes, block, std::move(y), std::move(x)),
                   {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_resize(KernelRegistry& registry) {
  registry.add("", "Resize", plan_resize);
}

}  // namespace het::cpu
