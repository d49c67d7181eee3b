#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/hetero_plan.h"
#include "hetero/placement.h"
#include "hetero/plan_store.h"
#include "inference/device.h"
#include "inference/model.h"
#include "inference/properties.h"
#include "inference/status.h"

namespace het::hetero {

/// What a placement is best at.
enum class Policy {
  Priority,    ///< the order of the list, as OpenVINO
  Latency,     ///< one request, one thing at a time
  Parallel,    ///< one request, branches on several devices at once
  Throughput,  ///< many requests in flight
};

std::string_view to_string(Policy policy);
/// HETERO_POLICY.
Policy policy_of(const Properties& properties);

/// A placement that was considered.
struct PlanCandidate {
  std::string name;  ///< "GPU alone", "by priority", "latency", "latency, again" ...
  Placement placement;
  bool is_single = false;      ///< all nodes on one device
  bool in_stages = false;      ///< split_in_stages()
  double predicted_ms = 0;     ///< of a request or, for throughput, from result to result
  double measured_ms = 0;      ///< the same, median; 0: was not run
  double measured_spread = 0;  ///< quartiles' distance over the median
  std::shared_ptr<HeteroPlan> compiled;
};

/// How a placement was found, for logs and HETERO_PLAN.
struct PlanReport {
  Policy policy = Policy::Priority;
  std::vector<PlanCandidate> candidates;  ///< `compiled` of the chosen one only
  size_t chosen = 0;
  /// Of the chosen candidate, with PlanOptions::explain: per subgraph, and per cut to all readers.
  struct SubgraphTime {
    double predicted_ms = 0;
    double measured_ms = 0;  ///< alone
  };
  std::vector<SubgraphTime> subgraphs;
  std::vector<double> cut_ms;
};

struct PlanOptions {
  Policy policy = Policy::Priority;
  /// Everything is measured: under Priority too, which it does not change, and where a plan is
  /// stored.
  bool explain = false;
};

/// What planning needs of the model's compiler.
struct PlanFactory {
  std::function<Result<std::shared_ptr<HeteroPlan>>(const Split& split)> compile;
  /// The plan as a model that can be timed.
  std::function<Result<std::shared_ptr<CompiledModel>>(std::shared_ptr<const HeteroPlan> plan)>
      model_of;
};

/// Measures nodes and transfers, plans, and times the best plans and every device that can run the
/// model alone, one after the other in rounds. A plan of several devices is chosen where its median
/// is more than 3 % better than the best single device's, or where no device runs all. Subgraphs of
/// a plan are measured again, the costs corrected and the plan made anew, at most three times.
/// What was chosen is kept in `store`, and found there it is taken as it is. Results are the same
/// whatever is chosen, up to the devices' precision. Fails where the model cannot run.
Result<PlanReport> plan_by_policy(PlanOptions options, const Model& prepared, SupportTable& table,
                                  PlanStore& store, const PlanFactory& factory);

/// The candidates as a table, the chosen one marked.
std::string describe(const PlanReport& report, const SupportTable& table);

}  // namespace het::hetero
