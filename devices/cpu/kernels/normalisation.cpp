#include <cmath>
#include <type_traits>

#include "devices/cpu/loops/moment_loops.h"
#include "devices/cpu/loops/row_norm_loops.h"
#include "devices/cpu/loops/wide_moments.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"

namespace het::cpu {
namespace {

/// Values that one thread should have at least.
constexpr int64_t kGrainValues = 8192;

/// Without `centred` the mean of the squares takes the place of the variance.
template <class T>
Normaliser normaliser_of(const Moments& moments, const T* values, size_t count, float epsilon,
                         bool centred) {
  float variance = moments.variance;
  if (!centred) variance += moments.mean * moments.mean;
  if (!std::isfinite(variance)) {
    return wide_normaliser([values](size_t i) { return values[i]; }, count, epsilon, centred);
  }
  return {centred ? moments.mean : 0.0f, 1.0f / std::sqrt(variance + epsilon)};
}

/// LayerNormalization or RMSNormalization of rows that share one scale and one bias per value.
/// From: float or BFloat16; sums and what is made of them are float32.
template <class From>
class LayerKernel final : public Kernel {
 public:
  LayerKernel(int64_t rows, int64_t length, float epsilon, bool centred, ElementType to)
      : rows_(rows), length_(length), epsilon_(epsilon), centred_(centred), to_(to) {}
  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto length = static_cast<size_t>(length_);
    const RowNorm norm{length, epsilon_, centred_, reinterpret_cast<const float*>(args.inputs[1]),
                       reinterpret_cast<const float*>(args.inputs[2])};
    parallel_for(rows_, kGrainValues / length_ + 1, [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin) * length;
      const auto count = static_cast<size_t>(end - begin);
      const std::byte* const src = args.inputs[0] + first * sizeof(From);
      std::byte* const dst = args.outputs[0] + first * byte_width(to_);
      if (length <= kMaxRowNormLength) return normalise_rows(norm, count, kFrom, src, to_, dst);
      for (size_t r = 0; r < count; ++r) {
        normalise_long(norm, src + r * length * sizeof(From), dst + r * length * byte_width(to_));
      }
    });
    return {};
  }

 private:
  static constexpr ElementType kFrom =
      std::is_same_v<From, BFloat16> ? ElementType::BFloat16 : ElementType::Float32;

  void normalise_long(const RowNorm& norm, const std::byte* src, std::byte* dst) const {
    const auto [mean, factor] =
        normaliser_of(row_moments(kFrom, src, norm.length), reinterpret_cast<const From*>(src),
                      norm.length, epsilon_, centred_);
    normalise_row(kFrom, src, norm.length, mean, factor, norm.scale, norm.shift, to_, dst);
  }

  int64_t rows_;
  int64_t length_;
  float epsilon_;
  bool centred_;
  ElementType to_;
};

bool all_float32(const Node& node) {
  for (const Value* value : node.inputs()) {
    if (value != nullptr && value->desc().type != ElementType::Float32) return false;
  }
  return node.output()->desc().type == ElementType::Float32;
}

/// The statistics are no outputs here; scale and bias must have the shape of a row.
Result<bool> plan_layer(PlanBuilder& builder, const Node& node) {
  const Shape& shape = node.input(0)->desc().shape;
  if (!all_float32(node)) return false;
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    if (node.output(i) != nullptr && builder.is_read(*node.output(i))) return false;
  }
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", -1),
                                                static_cast<int64_t>(shape.size())));
  HET_ASSIGN(const AxisSplit rows, flatten_from(shape, axis));
  const Shape row(shape.begin() + axis, shape.end());
  const auto fits = [&](const Value* value) {
    if (value == nullptr) return true;
    Shape own = value->desc().shape;
    while (own.size() > row.size() && own.front() == 1) own.erase(own.begin());
    return own == row;
  };
  if (!fits(node.input(1)) || !fits(node.input(2))) return false;
  const bool narrow = builder.home(*node.input(0)).type == ElementType::BFloat16;
  const ElementType from = narrow ? ElementType::BFloat16 : ElementType::Float32;
  const ElementType to = builder.kept_type(*node.output());
  std::vector<TensorId> inputs(3, kNoTensor);
  for (size_t i = 0; i < 3; ++i) {
    if (node.input(i) == nullptr) continue;
    HET_ASSIGN(inputs[i],
               builder.read(*node.input(i), Format::Plain, i == 0 ? from : ElementType::Float32));
  }
  const TensorId out = builder.write(*node.output(), {to, shape, Format::Plain});
  const float epsilon = node.attributes().get_float("epsilon", 1e-5f);
  const bool centred = node.op_type() == "LayerNormalization";
  std::unique_ptr<Kernel> kernel;
  if (narrow) {
    kernel = std::make_unique<LayerKernel<BFloat16>>(rows.outer, rows.length, epsilon, centred, to);
  } else {
    kernel = std::make_unique<LayerKernel<float>>(rows.outer, rows.length, epsilon, centred, to);
  }
  Step& step = builder.add_step(node, std::move(kernel), std::move(inputs), {out});
  if (from == to) step.in_place = InPlace::Input;
  return true;
}

}  // namespace

HET_REGISTRATION void register_normalisation(KernelRegistry& registry) {
  registry.add("", "LayerNormalization", plan_layer);
  registry.add("", "RMSNormalization", plan_layer);
}

}  // namespace het::cpu
