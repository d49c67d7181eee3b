#include "inference/ops/elementwise/cast.h"

#include "devices/cpu/loops/half_loops.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/numeric_cast.h"
#include "inference/ops/type_dispatch.h"

namespace het::cpu {
namespace {

constexpr int64_t kCastGrain = 16 * 1024;

using CastRow = void (*)(const std::byte* src, size_t count, std::byte* dst);

template <class From, class To>
void cast_row(const std::byte* src, size_t count, std::byte* dst) {
  const auto* from = reinterpret_cast<const From*>(src);
  auto* to = reinterpret_cast<To*>(dst);
  for (size_t i = 0; i < count; ++i) to[i] = numeric_cast<To>(from[i]);
}

void widen_half(const std::byte* src, size_t count, std::byte* dst) {
  half_to_float_row(reinterpret_cast<const Float16*>(src), count, reinterpret_cast<float*>(dst));
}

void narrow_to_half(const std::byte* src, size_t count, std::byte* dst) {
  float_to_half_row(reinterpret_cast<const float*>(src), count, reinterpret_cast<Float16*>(dst));
}

/// Fails for types of less than a byte and for f8.
Result<CastRow> find_cast(ElementType src, ElementType dst) {
  if (src == ElementType::Float16 && dst == ElementType::Float32) return widen_half;
  if (src == ElementType::Float32 && dst == ElementType::Float16) return narrow_to_half;
  return dispatch_numeric_or_bool(src, [&]<class From>() -> Result<CastRow> {
    return dispatch_numeric_or_bool(
        dst, [&]<class To>() -> Result<CastRow> { return cast_row<From, To>; });
  });
}

class CastKernel final : public Kernel {
 public:
  CastKernel(CastRow cast, size_t src_width, size_t dst_width, int64_t count)
      : cast_(cast), src_width_(src_width), dst_width_(dst_width), count_(count) {}
  std::string_view implementation() const override { return "own_simd"; }
  Status execute(const KernelArgs& args, KernelState*) const override {
    parallel_for(count_, kCastGrain, [&](int64_t begin, int64_t end) {
      const auto first = static_cast<size_t>(begin);
      cast_(args.inputs[0] + first * src_width_, static_cast<size_t>(end - begin),
            args.outputs[0] + first * dst_width_);
    });
    return {};
  }

 private:
  CastRow cast_;
  size_t src_width_;
  size_t dst_width_;
  int64_t count_;
};

Result<bool> plan_cast(PlanBuilder& builder, const Node& node) {
  const TensorDesc& src = node.input(0)->desc();
  const TensorDesc& dst = node.output()->desc();
  const auto cast = find_cast(src.type, dst.type);
  if (!cast) return false;
  // Values are converted where they lie; but few types have blocks.
  const TensorSpec home = builder.home(*node.input(0));
  const Format format =
      home.type == src.type && !is_blocked(home.format) ? home.format : Format::Plain;
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), format, src.type));
  const TensorId out = builder.write(*node.output(), {dst.type, dst.shape, format});
  builder.add_step(node,
                   std::make_unique<CastKernel>(*cast, byte_width(src.type), byte_width(dst.type),
                                                element_count(dst.shape)),
                   {in}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_cast(KernelRegistry& registry) {
  registry.add("", "Cast", plan_cast);
  registry.add("", "CastLike", plan_cast);
}

}  // namespace het::cpu
