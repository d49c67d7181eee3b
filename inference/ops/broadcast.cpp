#include "inference/ops/broadcast.h"

namespace het {

BroadcastPlan plan_broadcast(const Shape& output, std::span<const Shape> inputs) {
  const size_t rank = output.size();
  std::vector<std::vector<int64_t>> strides;
  for (const Shape& input : inputs) {
    const std::vector<int64_t> own = row_major_strides(input);
    std::vector<int64_t> padded(rank);
    const size_t missing = rank - input.size();
    for (size_t d = missing; d < rank; ++d) {
      padded[d] = input[d - missing] == 1 ? 0 : own[d - missing];
    }
    strides.push_back(std::move(padded));
  }

  BroadcastPlan plan;
  plan.strides.resize(inputs.size());
  for (size_t d = 0; d < rank; ++d) {
    if (output[d] == 1) continue;
    bool merge = !plan.dims.empty();
    for (size_t i = 0; i < inputs.size() && merge; ++i) {
      merge = plan.strides[i].back() == strides[i][d] * output[d];
    }
    if (merge) {
      plan.dims.back() *= output[d];
      for (size_t i = 0; i < inputs.size(); ++i) plan.strides[i].back() = strides[i][d];
    } else {
      plan.dims.push_back(output[d]);
      for (size_t i = 0; i < inputs.size(); ++i) plan.strides[i].push_back(strides[i][d]);
    }
  }
  if (plan.dims.empty()) {
    plan.dims.push_back(1);
    for (auto& s : plan.strides) s.push_back(0);
  }
  return plan;
}

}  // namespace het
