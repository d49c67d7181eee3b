#include <algorithm>

#include "devices/cpu/loops/row_loops.h"
#include "devices/cpu/plan/plan_builder.h"
#include "inference/base/registration.h"

namespace het::cpu {
namespace {

/// The first of the largest scores of a row.
int64_t best_class(const float* row, int64_t classes) {
  const float largest = reduce_row(Accumulation::Max, row, static_cast<size_t>(classes));
  const float* found = std::find(row, row + classes, largest);
  // A NaN hides the maximum; then the order of comparisons decides, as in the reference.
  if (found == row + classes) found = std::max_element(row, row + classes);
  return found - row;
}

/// het.CTCGreedyDecoder: see its reference for the rules. Loop order: sequence, step, class.
class CtcKernel final : public Kernel {
 public:
  CtcKernel(const Shape& src, bool merge)
      : steps_(src[0]), batch_(src[1]), classes_(src[2]), merge_(merge) {}
  std::string_view implementation() const override { return "own_simd"; }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const float*>(args.inputs[0]);
    const auto* mask = reinterpret_cast<const float*>(args.inputs[1]);
    auto* dst = reinterpret_cast<float*>(args.outputs[0]);
    std::fill_n(dst, batch_ * steps_, -1.0f);
    for (int64_t n = 0; n < batch_; ++n) {
      float* label = dst + n * steps_;
      int64_t previous = -1;
      for (int64_t t = 0; t < steps_ && mask[t * batch_ + n] != 0.0f; ++t) {
        const int64_t best = best_class(src + (t * batch_ + n) * classes_, classes_);
        const bool blank = best == classes_ - 1;
        if (!blank && !(merge_ && best == previous)) *label++ = static_cast<float>(best);
        previous = best;
      }
    }
    return {};
  }

 private:
  int64_t steps_;
  int64_t batch_;
  int64_t classes_;
  bool merge_;
};

Result<bool> plan_ctc(PlanBuilder& builder, const Node& node) {
  const TensorDesc& src = node.input(0)->desc();
  if (src.type != ElementType::Float32 || node.input(1)->desc().type != ElementType::Float32) {
    return false;
  }
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), Format::Plain, src.type));
  HET_ASSIGN(const TensorId mask, builder.read(*node.input(1), Format::Plain, src.type));
  const TensorId out =
      builder.write(*node.output(), {src.type, node.output()->desc().shape, Format::Plain});
  const bool merge = node.attributes().get_int("ctc_merge_repeated", 1) != 0;
  builder.add_step(node, std::make_unique<CtcKernel>(src.shape, merge), {in, mask}, {out});
  return true;
}

}  // namespace

HET_REGISTRATION void register_ctc_greedy_decoder(KernelRegistry& registry) {
  registry.add("het", "CTCGreedyDecoder", plan_ctc);
}

}  // namespace het::cpu
