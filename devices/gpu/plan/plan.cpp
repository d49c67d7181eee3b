#include "devices/gpu/plan/plan.h"

#include <algorithm>
#include <limits>

#include "inference/tensors/memory_packing.h"

namespace het::gpu {
namespace {

template <class Kind>
std::vector<TensorId> tensors_of(const Step& step) {
  std::vector<TensorId> ids;
  for (const KernelArg& arg : step.launch.args) {
    const Kind* tensor = std::get_if<Kind>(&arg);
    if (tensor != nullptr && tensor->id != kNoTensor) ids.push_back(tensor->id);
  }
  return ids;
}

}  // namespace

std::vector<TensorId> read_by(const Step& step) {
  return tensors_of<Read>(step);
}

std::vector<TensorId> written_by(const Step& step) {
  return tensors_of<Write>(step);
}

std::vector<KernelUse> kernel_uses(const Plan& plan) {
  std::vector<KernelUse> uses;
  for (const Step& step : plan.steps) {
    const Range& local = step.launch.local;
    uses.push_back(
        {step.program, fmt::format("{} {}x{}x{}", step.kernel, local[0], local[1], local[2])});
  }
  return uses;
}

void plan_memory(Plan& plan, size_t alignment) {
  constexpr size_t kNever = std::numeric_limits<size_t>::max();
  std::vector<Lifetime> lifetimes(plan.tensors.size(), {0, kNever, 0});
  const auto touch = [&](TensorId id, size_t step) {
    Lifetime& life = lifetimes[static_cast<size_t>(plan.root(id))];
    life.first = std::min(life.first, step);
    life.last = std::max(life.last, step);
  };
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    for (const TensorId id : read_by(plan.steps[s])) touch(id, s);
    for (const TensorId id : written_by(plan.steps[s])) touch(id, s);
  }
  // What is copied to a request's output lives until the end.
  for (const TensorId id : plan.outputs) touch(id, plan.steps.size());
  std::vector<Lifetime> needed;
  std::vector<size_t> roots;
  plan.unshared_bytes = 0;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const PlanTensor& tensor = plan.tensors[i];
    if (tensor.storage != Storage::Arena || tensor.parent != kNoTensor) continue;
    if (lifetimes[i].first == kNever) continue;  // no step touches it
    lifetimes[i].bytes = (size_bytes(tensor.spec) + alignment - 1) / alignment * alignment;
    plan.unshared_bytes += lifetimes[i].bytes;
    roots.push_back(i);
    needed.push_back(lifetimes[i]);
  }
  const Packing packing = pack(needed, alignment);
  for (size_t k = 0; k < roots.size(); ++k) plan.tensors[roots[k]].offset = packing.offsets[k];
  plan.arena_bytes = packing.bytes;
}

}  // namespace het::gpu
