#include "devices/cpu/exact_plan.h"

#include "devices/cpu/plan/planner.h"
#include "inference/base/log.h"

namespace het::cpu {

Result<RunnablePlan*> ExactPlan::get() {
  const std::lock_guard lock(mutex_);
  if (prepared_ != nullptr) {
    log(LogLevel::Info,
        "model '{}': NaN or infinities have come to a fused activation or a Winograd convolution; "
        "executions with such values run without them, slower",
        prepared_->name());
    status_ = make();
    prepared_ = nullptr;
  }
  if (!status_.ok()) return tl::unexpected(status_);
  return plan_.get();
}

Status ExactPlan::make() {
  const std::unique_ptr<Model> original = prepared_->clone();
  HET_ASSIGN(
      PlannedModel planned,
      plan_here(*prepared_, settings_, {.choices = &choices_, .non_finite = NonFinite::Kept}));
  plan_ = std::make_unique<RunnablePlan>(std::move(planned.plan), *original);
  return plan_->prepare(settings_.streams);
}

}  // namespace het::cpu
