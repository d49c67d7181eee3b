#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "hetero/execution/hetero_plan.h"
#include "hetero/execution/plan_mix.h"
#include "hetero/placement/placement.h"
#include "hetero/placement/plan_drift.h"
#include "hetero/placement/plan_report.h"
#include "hetero/placement/plan_store.h"
#include "hetero/placement/profile_store.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/model/model.h"

namespace het::hetero {

struct PlanOptions {
  Policy policy = Policy::Priority;
  /// Everything is measured: under Priority too, which it does not change, and where a plan is
  /// stored.
  bool explain = false;
  /// Throughput: executions may be shared among several placements.
  bool mixes = true;
  /// For plan_again(): a stored plan comes with costs, too.
  bool keeps_costs = false;
};

/// What is known from before, in CACHE_DIR.
struct Stores {
  PlanStore& plans;
  ProfileStore& profiles;
};

/// What planning needs of the model's compiler.
struct PlanFactory {
  /// `with_accelerator`: the plan uses one, in this split or another.
  std::function<Result<std::shared_ptr<HeteroPlan>>(const Split& split, bool with_accelerator)>
      compile;
  /// The plans as a model that can be timed.
  std::function<Result<std::shared_ptr<CompiledModel>>(std::shared_ptr<const PlanMix> plan)>
      model_of;
};

/// Measures nodes and transfers, plans, and times the best plans and every device that can run the
/// model alone, one after the other in rounds. What uses several devices is chosen where its median
/// is more than 3 % better than the best single device's, or where no device runs all. Subgraphs of
/// a plan are measured again, the costs corrected and the plan made anew, at most three times.
/// What was chosen and what was measured is kept in `stores`; a plan that is found there is taken
/// as it is. Results are the same whatever is chosen, up to the devices' precision. Fails where the
/// model cannot run.
Result<PlanReport> plan_by_policy(PlanOptions options, const Model& prepared, SupportTable& table,
                                  Stores stores, const PlanFactory& factory);

/// Plans anew beside running requests: nothing is measured, since that would measure the requests,
/// too. What was measured for `before` is taken times what has changed, candidates by what the
/// costs say times what they were off by then. Empty where the plan that runs is not 3 % worse than
/// the best. `before` has costs.
Result<std::optional<PlanReport>> plan_again(PlanOptions options, const Model& prepared,
                                             SupportTable& table, Stores stores,
                                             const PlanFactory& factory, const PlanReport& before,
                                             const std::vector<SpeedChange>& changes);

}  // namespace het::hetero
