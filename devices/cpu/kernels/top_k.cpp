#include <algorithm>
#include <functional>
#include <limits>

#include "devices/cpu/loops/rank_key.h"
#include "devices/cpu/plan/plan_builder.h"
#include "devices/cpu/threads/parallel.h"
#include "inference/base/registration.h"
#include "inference/ops/axis_split.h"

namespace het::cpu {
namespace {

/// Selects on whole numbers that hold the value's order and its index. Loop order: outer, inner,
/// then along the axis.
template <class T>
class TopKKernel final : public Kernel {
 public:
  TopKKernel(AxisSplit split, int64_t k, bool largest)
      : split_(split), k_(k), flip_(largest ? 0u : 0xffffffffu), team_(team_size()) {}

  std::string_view implementation() const override { return "own"; }
  size_t scratch_bytes() const override {
    return static_cast<size_t>(team_ * split_.length) * sizeof(uint64_t);
  }

  Status execute(const KernelArgs& args, KernelState*) const override {
    const auto* src = reinterpret_cast<const T*>(args.inputs[0]);
    auto* values = reinterpret_cast<T*>(args.outputs[0]);
    auto* indices = reinterpret_cast<int64_t*>(args.outputs[1]);
    auto* scratch = reinterpret_cast<uint64_t*>(args.scratch);
    const int64_t grain = std::max<int64_t>(4096 / split_.length, 1);
    parallel_for(split_.outer * split_.inner, grain, [&](int64_t begin, int64_t end) {
      uint64_t* keys = scratch + team_part() * split_.length;
      for (int64_t row = begin; row < end; ++row) {
        const int64_t outer = row / split_.inner;
        const int64_t inner = row % split_.inner;
        select(src + outer * split_.length * split_.inner + inner, keys);
        const int64_t first = outer * k_ * split_.inner + inner;
        for (int64_t i = 0; i < k_; ++i) {
          const int64_t from = rank_index(keys[i]);
          const int64_t dst = first + i * split_.inner;
          values[dst] = src[(outer * split_.length + from) * split_.inner + inner];
          if (indices != nullptr) indices[dst] = from;
        }
      }
    });
    return {};
  }

 private:
  void select(const T* src, uint64_t* keys) const {
    for (int64_t i = 0; i < split_.length; ++i) {
      keys[i] = rank_key(order_key(src[i * split_.inner]) ^ flip_, static_cast<uint32_t>(i));
    }
    if (k_ < split_.length) {
      std::nth_element(keys, keys + k_, keys + split_.length, std::greater<>());
    }
    std::sort(keys, keys + k_, std::greater<>());
  }

  AxisSplit split_;
  int64_t k_;
  uint32_t flip_;  ///< turns the order round
  int64_t team_;
};

Result<bool> plan_top_k(PlanBuilder& builder, const Node& node) {
  const TensorDesc& src = node.input(0)->desc();
  HET_ASSIGN(const AxisSplit split, axis_split(src.shape, node.attributes().get_int("axis", -1)));
  if (split.length > std::numeric_limits<int32_t>::max()) return false;
  const bool largest = node.attributes().get_int("largest", 1) != 0;
  const Shape& shape = node.output(0)->desc().shape;
  const int64_t k = element_count(shape) / (split.outer * split.inner);
  std::unique_ptr<Kernel> kernel;
  if (src.type == ElementType::Float32) {
    kernel = std::make_unique<TopKKernel<float>>(split, k, largest);
  } else if (src.type == ElementType::Int32) {
    kernel = std::make_unique<TopKKernel<int32_t>>(split, k, largest);
  } else {
    return false;
  }
  HET_ASSIGN(const TensorId in, builder.read(*node.input(0), Format::Plain, src.type));
  const TensorId values = builder.write(*node.output(0), {src.type, shape, Format::Plain});
  TensorId indices = kNoTensor;
  if (node.outputs().size() > 1 && node.output(1) != nullptr) {
    indices = builder.write(*node.output(1), {ElementType::Int64, shape, Format::Plain});
  }
  builder.add_step(node, std::move(kernel), {in}, {values, indices});
  return true;
}

}  // namespace

HET_REGISTRATION void register_top_k(KernelRegistry& registry) {
  registry.add("", "TopK", plan_top_k);
}

}  // namespace het::cpu
