#include "devices/cpu/products/activated_kernel.h"

#include <algorithm>

#include "devices/cpu/loops/elementwise_loop.h"
#include "devices/cpu/products/dense.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {
namespace {

class ActivatedKernel final : public Kernel {
 public:
  ActivatedKernel(std::unique_ptr<Kernel> inner, ElementwiseInstruction expression,
                  const TensorSpec& dst)
      : inner_(std::move(inner)), type_(dst.type), count_(physical_count(dst)) {
    expression.a = 0;
    code_ = make_elementwise_code({1, {expression}});
  }

  std::string_view implementation() const override { return inner_->implementation(); }
  size_t scratch_bytes() const override { return inner_->scratch_bytes(); }
  bool keeps_non_finite() const override { return inner_->keeps_non_finite(); }
  Result<std::unique_ptr<KernelState>> create_state() const override {
    return inner_->create_state();
  }

  Status execute(const KernelArgs& args, KernelState* state) const override {
    HET_TRY(inner_->execute(args, state));
    if (type_ == ElementType::BFloat16) {
      activate(reinterpret_cast<BFloat16*>(args.outputs[0]));
    } else {
      activate(reinterpret_cast<float*>(args.outputs[0]));
    }
    return {};
  }

 private:
  template <class T>
  void activate(T* values) const {
    constexpr int64_t kPart = 1024;
    parallel_for((count_ + kPart - 1) / kPart, 4, [&](int64_t begin, int64_t end) {
      const int64_t first = begin * kPart;
      const ElementwiseSource source{values + first, type_};
      run_elementwise(code_, &source, values + first,
                      static_cast<size_t>(std::min(end * kPart, count_) - first));
    });
  }

  std::unique_ptr<Kernel> inner_;
  ElementType type_;
  int64_t count_;  ///< padding included
  ElementwiseCode code_;
};

}  // namespace

std::optional<ElementwiseInstruction> slow_last_step(const FusedTail& tail, bool pads) {
  if (tail.empty() || tail.back().sum || !is_slow_in_onednn(tail.back().expression) ||
      (pads && tail.back().expression.kind == ElementwiseKind::Sigmoid)) {
    return std::nullopt;
  }
  return tail.back().expression;
}

std::unique_ptr<Kernel> make_activated_kernel(std::unique_ptr<Kernel> inner,
                                              const ElementwiseInstruction& expression,
                                              const TensorSpec& dst) {
  return std::make_unique<ActivatedKernel>(std::move(inner), expression, dst);
}

}  // namespace het::cpu
