#include <algorithm>

#include "devices/cpu/loops/softmax_loops.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// Softmax over n values that lie `inner` apart, `outer` times.
struct SoftmaxShape {
  int64_t outer = 1;
  int64_t n = 1;
  int64_t inner = 1;
};

/// Exponentials that are worth a thread.
constexpr int64_t kSoftmaxGrain = 4096;
/// Columns that are computed together, whole vectors of them.
constexpr int64_t kColumns = 256;

class SoftmaxKernel final : public Kernel {
 public:
  SoftmaxKernel(const SoftmaxShape& shape, bool logarithm) : shape_(shape), logarithm_(logarithm) {}

  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    if (shape_.inner == 1) {
      parallel_for(shape_.outer, kSoftmaxGrain / shape_.n, [&](int64_t begin, int64_t end) {
        if (shape_.n > kShortRow) {
          for (int64_t row = begin; row < end; ++row) {
            softmax_long_row(src + row * shape_.n, shape_.n, logarithm_, dst + row * shape_.n);
          }
          return;
        }
        softmax_rows(src + begin * shape_.n, shape_.n, end - begin, logarithm_,
                     dst + begin * shape_.n);
      });
      return {};
    }
    const int64_t parts = (shape_.inner + kColumns - 1) / kColumns;
    const int64_t part_values = std::min(kColumns, shape_.inner) * shape_.n;
    parallel_for(
        shape_.outer * parts, kSoftmaxGrain / part_values, [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k) {
            const int64_t first = k % parts * kColumns;
            const int64_t offset = k / parts * shape_.n * shape_.inner + first;
            softmax_columns(src + offset, shape_.n, shape_.inner,
                            std::min(kColumns, shape_.inner - first), logarithm_, dst + offset);
          }
        });
    return {};
  }

 private:
  SoftmaxShape shape_;
  bool logarithm_;
};

/// In front of the axis, along it, behind it, as they lie in memory: of a blocked format or one
/// that has the channels last only the channels may be the axis.
SoftmaxShape softmax_shape(const TensorSpec& spec, int64_t axis) {
  SoftmaxShape shape;
  shape.n = spec.shape[static_cast<size_t>(axis)];
  for (size_t i = 0; i < spec.shape.size(); ++i) {
    const bool before = spec.format == Format::ChannelsLast || static_cast<int64_t>(i) < axis;
    if (static_cast<int64_t>(i) != axis) (before ? shape.outer : shape.inner) *= spec.shape[i];
  }
  return shape;
}

/// Over channels the neighbours' format stays, unless most of a block would be padding. oneDNN,
/// which computes over blocks, loses NaN and makes 0 of what infinities give.
Format softmax_format(const PlanBuilder& builder, const TensorSpec& home, int64_t axis) {
  if (axis != 1 || home.shape.size() < 3) return Format::Plain;
  if (is_blocked(home.format) && builder.options().non_finite == NonFinite::Kept) {
    return Format::Plain;
  }
  return home.shape[1] * 2 <= block_of(home.format) ? Format::Plain : home.format;
}

Result<bool> plan_softmax(PlanBuilder& builder, const Node& node) {
  const Value& src = *node.input(0);
  const Shape& dims = src.desc().shape;
  if (src.desc().type != ElementType::Float32 || dims.empty() || element_count(dims) == 0) {
    return false;
  }
  HET_ASSIGN(const int64_t axis, normalize_axis(node.attributes().get_int("axis", -1),
                                                static_cast<int64_t>(dims.size())));
  const bool logarithm = node.op_type() == "LogSoftmax";
  TensorSpec spec{ElementType::Float32, dims, Format::Plain};
  spec.format = softmax_format(builder, builder.home(src), axis);
  std::unique_ptr<Kernel> kernel;
  const SoftmaxShape shape = softmax_shape(spec, axis);
  // oneDNN has generated code for blocks of channels.
  if (!is_blocked(spec.format)) {
    kernel = std::make_unique<SoftmaxKernel>(shape, logarithm);
  } else {
    Result<Primitive> primitive = make_softmax(spec, axis, logarithm);
    if (!primitive) return false;
    primitive->keeps_non_finite = false;
    kernel = make_primitive_kernel(std::move(*primitive),
                                   {{PrimitiveOperand::Source::Input, DNNL_ARG_SRC, 0, {}},
                                    {PrimitiveOperand::Source::Output, DNNL_ARG_DST, 0, {}}});
  }
  HET_ASSIGN(const TensorId in, builder.read(src, spec.format, ElementType::Float32));
  const TensorId out = builder.write(*node.output(), spec);
  builder.add_step(node, std::move(kernel), {in}, {out}).in_place = InPlace::Input;
  return true;
}

}  // namespace

HET_REGISTRATION void register_softmax(KernelRegistry& registry) {
  registry.add("", "Softmax", plan_softmax);
  registry.add("", "LogSoftmax", plan_softmax);
}

}  // namespace het::cpu
