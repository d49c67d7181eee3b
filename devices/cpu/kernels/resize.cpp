#include "inference/ops/resize.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "devices/cpu/parallel.h"
#include "devices/cpu/plan_builder.h"
#include "devices/cpu/row_loops.h"
#include "inference/registration.h"

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
    Axis axis{dim.in, dim.out, 1, std::vector<int32_t>(static_cast<size_t>(dim.out)), {}};
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

/// Planes of [height, width, lanes]. Loop order: plane and output row, then the row's taps are
/// combined over the whole width, then along it.
class ResizeKernel final : public Kernel {
 public:
  ResizeKernel(int64_t planes, int64_t lanes, Axis y, Axis x, size_t team)
      : planes_(planes), lanes_(lanes), y_(std::move(y)), x_(std::move(x)), team_(team) {}

  std::string_view implementation() const override { return "own_simd"; }
  size_t scratch_bytes() const override { return team_ * row_floats() * sizeof(float); }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    auto* scratch = reinterpret_cast<float*>(args.scratch);
    const int64_t row = x_.out * lanes_;
    parallel_for(planes_ * y_.out, std::max<int64_t>(8192 / std::max<int64_t>(row, 1), 1),
                 [&](int64_t begin, int64_t end) {
                   float* own = scratch + static_cast<size_t>(omp_get_thread_num()) * row_floats();
                   for (int64_t k = begin; k < end; ++k) {
                     resize_row(src + k / y_.out * y_.in * x_.in * lanes_, k % y_.out, own,
                                dst + k * row);
                   }
                 });
    return {};
  }

 private:
  size_t row_floats() const { return (static_cast<size_t>(x_.in * lanes_) + 15) / 16 * 16; }

  void resize_row(const float* plane, int64_t y, float* own, float* dst) const {
    const int64_t stride = x_.in * lanes_;
    const int32_t* rows = y_.index.data() + static_cast<size_t>(y) * y_.taps;
    const float* src = plane + rows[0] * stride;
    if (y_.taps > 1) {
      std::array<const float*, 4> taps{};
      for (size_t t = 0; t < y_.taps; ++t) taps[t] = plane + rows[t] * stride;
      weigh_rows(taps.data(), y_.weight.data() + static_cast<size_t>(y) * y_.taps, y_.taps,
                 static_cast<size_t>(stride), own);
      src = own;
    }
    if (x_.taps == 1) {
      for (int64_t x = 0; x < x_.out; ++x) {
        std::copy_n(src + x_.index[static_cast<size_t>(x)] * lanes_, lanes_, dst + x * lanes_);
      }
      return;
    }
    weigh_pixels(src, x_.index.data(), x_.weight.data(), x_.taps, static_cast<size_t>(x_.out),
                 static_cast<size_t>(lanes_), dst);
  }

  int64_t planes_;
  int64_t lanes_;
  Axis y_;
  Axis x_;
  size_t team_;
};

Result<bool> plan_resize(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Value& dst = *node.output();
  const Shape& shape = src.desc().shape;
  if (src.desc().type != ElementType::Float32 || shape.size() < 3 || shape.size() > 4 ||
      element_count(shape) == 0) {
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
  if (y.taps > 4 || x.taps > 4) return false;

  const TensorSpec& home = builder.home(src);
  const Format format = is_blocked(home.format) ? home.format : Format::Plain;
  HET_ASSIGN(const TensorId in, builder.read(src, format, ElementType::Float32));
  const int64_t block = block_of(format);
  const int64_t planes = shape[0] * ((shape[1] + block - 1) / block);
  const TensorId out = builder.write(dst, {ElementType::Float32, dst.desc().shape, format});
  builder.add_step(node,
                   std::make_unique<ResizeKernel>(planes, block, std::move(y), std::move(x),
                                                  static_cast<size_t>(omp_get_max_threads())),
                   {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_resize(KernelRegistry& registry) {
  registry.add("", "Resize", plan_resize);
}

}  // namespace het::cpu
