#include "devices/cpu/plan/plan_execution.h"

#include <algorithm>
#include <optional>

#include "devices/cpu/plan/non_finite.h"
#include "devices/cpu/threads/parallel.h"

namespace het::cpu {

Result<std::unique_ptr<PlanExecution>> PlanExecution::create(const Plan& plan) {
  std::unique_ptr<PlanExecution> execution(new PlanExecution(plan));
  HET_TRY(execution->prepare());
  return execution;
}

Status PlanExecution::prepare() {
  HET_ASSIGN(arena_, allocate_host_buffer(plan_.arena_bytes));
  HET_ASSIGN(scratch_, allocate_host_buffer(plan_.scratch_bytes));
  for (const Step& step : plan_.steps) {
    HET_ASSIGN(states_.emplace_back(), step.kernel->create_state());
    StepPointers pointers;
    pointers.inputs = pointers_.size();
    for (const TensorId id : step.inputs) add_pointer(id);
    pointers.outputs = pointers_.size();
    for (const TensorId id : step.outputs) add_pointer(id);
    step_pointers_.push_back(pointers);
  }
  dynamic_.resize(plan_.tensors.size());
  return {};
}

std::byte* PlanExecution::address(TensorId id) const {
  const Plan::Location location = plan_.locate(id);
  const PlanTensor& root = plan_.tensors[static_cast<size_t>(location.root)];
  switch (root.storage) {
    case Storage::Arena:
      return arena_->host() + root.offset + location.offset;
    case Storage::Constant:
      return root.constant.bytes() + location.offset;
    case Storage::Input:
      return inputs_.empty() ? nullptr : inputs_[root.port] + location.offset;
    case Storage::Output:
      return outputs_.empty() ? nullptr : outputs_[root.port] + location.offset;
    case Storage::Dynamic:
      return nullptr;
  }
  return nullptr;
}

void PlanExecution::add_pointer(TensorId id) {
  if (id == kNoTensor) {
    pointers_.push_back(nullptr);
    return;
  }
  const Plan::Location location = plan_.locate(id);
  const PlanTensor& root = plan_.tensors[static_cast<size_t>(location.root)];
  if (root.storage == Storage::Input || root.storage == Storage::Output) {
    port_pointers_.push_back(
        {pointers_.size(), root.port, location.offset, root.storage == Storage::Output});
    pointers_.push_back(nullptr);
    return;
  }
  pointers_.push_back(address(id));
}

void PlanExecution::bind(const std::vector<std::byte*>& inputs,
                         const std::vector<std::byte*>& outputs) {
  inputs_ = inputs;
  outputs_ = outputs;
  for (const PortPointer& pointer : port_pointers_) {
    pointers_[pointer.pointer] =
        (pointer.output ? outputs_ : inputs_)[pointer.port] + pointer.offset;
  }
}

bool PlanExecution::may_run_step(size_t step) const {
  const std::byte* const* const inputs = pointers_.data() + step_pointers_[step].inputs;
  return std::ranges::all_of(plan_.steps[step].to_be_finite, [&](const FiniteInput& checked) {
    return all_finite(checked.type, inputs[checked.input], checked.count);
  });
}

Status PlanExecution::run_step(size_t step, const std::atomic<bool>* cancelled) {
  KernelArgs args;
  args.inputs = pointers_.data() + step_pointers_[step].inputs;
  args.outputs = pointers_.data() + step_pointers_[step].outputs;
  args.scratch = scratch_->host();
  args.dynamic = dynamic_;
  args.cancelled = cancelled;
  std::optional<AloneScope> alone;
  if (plan_.steps[step].alone) alone.emplace();
  return plan_.steps[step].kernel->execute(args, states_[step].get());
}

}  // namespace het::cpu
