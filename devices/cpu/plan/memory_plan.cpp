#include "devices/cpu/plan/memory_plan.h"

#include <algorithm>
#include <limits>

#include "inference/tensors/memory_packing.h"

namespace het::cpu {
namespace {

constexpr size_t kAlignment = 64;

size_t aligned(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// First and last step that touch each root; first > last where none does.
std::vector<Lifetime> root_lifetimes(const Plan& plan) {
  std::vector<Lifetime> lifetimes(plan.tensors.size(), {0, std::numeric_limits<size_t>::max(), 0});
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    if (plan.tensors[i].storage == Storage::Arena) {
      lifetimes[i].bytes = size_bytes(plan.tensors[i].spec);
    }
  }
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const auto touch = [&](TensorId id) {
      if (id == kNoTensor) return;
      Lifetime& life = lifetimes[static_cast<size_t>(plan.locate(id).root)];
      life.first = std::min(life.first, s);
      life.last = std::max(life.last, s);
    };
    for (const TensorId id : plan.steps[s].inputs) touch(id);
    for (const TensorId id : plan.steps[s].outputs) touch(id);
  }
  // What is copied to a request's output lives until the end.
  for (const TensorId id : plan.outputs) {
    lifetimes[static_cast<size_t>(plan.locate(id).root)].last = plan.steps.size();
  }
  return lifetimes;
}

bool is_free_root(const Plan& plan, TensorId id) {
  const PlanTensor& tensor = plan.tensors[static_cast<size_t>(id)];
  return tensor.parent == kNoTensor && tensor.storage == Storage::Arena;
}

void share_concatenations(Plan& plan) {
  // From the last to the first, so that nested ones end up in the outermost.
  for (auto step = plan.steps.rbegin(); step != plan.steps.rend(); ++step) {
    if (step->in_place != InPlace::Concat) continue;
    const TensorId out = step->outputs[0];
    size_t offset = 0;
    for (const TensorId id : step->inputs) {
      const size_t bytes = size_bytes(plan.tensors[static_cast<size_t>(id)].spec);
      const Plan::Location source = plan.locate(id);
      PlanTensor& part = plan.tensors[static_cast<size_t>(source.root)];
      // Kernels expect vectors that start at a cache line.
      if (is_free_root(plan, source.root) && plan.locate(out).root != source.root &&
          source.offset == 0 && size_bytes(part.spec) == bytes && offset % kAlignment == 0) {
        part.parent = out;
        part.offset = offset;
      }
      offset += bytes;
    }
  }
}

void share_in_place(Plan& plan) {
  std::vector<Lifetime> lifetimes = root_lifetimes(plan);
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    const Step& step = plan.steps[s];
    if (step.in_place != InPlace::Input) continue;
    const TensorId in = step.inputs[step.in_place_input];
    const TensorId out = step.outputs[0];
    const Plan::Location source = plan.locate(in);
    PlanTensor& target = plan.tensors[static_cast<size_t>(out)];
    const PlanTensor& root = plan.tensors[static_cast<size_t>(source.root)];
    if (!is_free_root(plan, out) || root.storage != Storage::Arena || source.root == out) continue;
    Lifetime& life = lifetimes[static_cast<size_t>(source.root)];
    // Another operand of the same step in that memory would be overwritten while it is read.
    const auto shares = [&](TensorId id) {
      return id != kNoTensor && plan.locate(id).root == source.root;
    };
    const auto uses = std::count_if(step.inputs.begin(), step.inputs.end(), shares);
    if (life.last != s || uses != 1 || source.offset != 0 ||
        size_bytes(root.spec) != size_bytes(target.spec)) {
      continue;
    }
    target.parent = source.root;
    target.offset = 0;
    const Lifetime& merged = lifetimes[static_cast<size_t>(out)];
    life.last = std::max(life.last, merged.last);
  }
}

}  // namespace

void plan_memory(Plan& plan) {
  share_concatenations(plan);
  share_in_place(plan);
  const std::vector<Lifetime> lifetimes = root_lifetimes(plan);
  std::vector<Lifetime> needed;
  std::vector<size_t> roots;
  plan.unshared_bytes = 0;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    if (plan.tensors[i].storage == Storage::Arena && lifetimes[i].bytes > 0) {
      plan.unshared_bytes += aligned(lifetimes[i].bytes);
    }
    if (!is_free_root(plan, static_cast<TensorId>(i))) continue;
    if (lifetimes[i].first > lifetimes[i].last) continue;  // no step touches it
    roots.push_back(i);
    needed.push_back(lifetimes[i]);
  }
  const Packing packing = pack(needed, kAlignment);
  for (size_t k = 0; k < roots.size(); ++k) plan.tensors[roots[k]].offset = packing.offsets[k];
  plan.arena_bytes = packing.bytes;
  plan.scratch_bytes = 0;
  for (const Step& step : plan.steps) {
    plan.scratch_bytes = std::max(plan.scratch_bytes, step.kernel->scratch_bytes());
  }
}

Plan::Location Plan::locate(TensorId id) const {
  size_t offset = 0;
  while (tensors[static_cast<size_t>(id)].parent != kNoTensor) {
    offset += tensors[static_cast<size_t>(id)].offset;
    id = tensors[static_cast<size_t>(id)].parent;
  }
  return {id, offset};
}

}  // namespace het::cpu
