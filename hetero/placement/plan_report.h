#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/execution/hetero_plan.h"
#include "hetero/placement/cost_model.h"
#include "hetero/placement/placement.h"
#include "inference/devices/properties.h"

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

/// A placement that some or all executions take.
struct CandidateWay {
  Placement placement;
  bool in_stages = false;  ///< split_in_stages()
  double share = 1;        ///< of all executions
  std::shared_ptr<HeteroPlan> compiled;
};

/// Something that was considered: a placement, or several that share the executions.
struct PlanCandidate {
  std::string name;  ///< "GPU alone", "by priority", "latency", "latency, round 2" ...
  std::vector<CandidateWay> ways;
  bool is_single = false;      ///< all nodes on one device
  size_t requests = 0;         ///< in flight that keep its devices busy; 0: what they advise
  double predicted_ms = 0;     ///< of a request or, for throughput, from result to result
  double measured_ms = 0;      ///< the same, median; 0: was not run
  double undisturbed_ms = 0;   ///< first quartile, the least of all times that it was run
  double most_ms = 0;          ///< median, the largest of them
  double measured_spread = 0;  ///< quartiles' distance over the median
  double bias = 1;             ///< what was measured once over what the costs said then
};

/// How a placement was found, for logs and HETERO_PLAN.
struct PlanReport {
  Policy policy = Policy::Priority;
  std::vector<PlanCandidate> candidates;  ///< `compiled` of the chosen one only
  size_t chosen = 0;
  /// Per way of the chosen candidate, with PlanOptions::explain: what its parts take.
  struct WayTimes {
    struct SubgraphTime {
      double predicted_ms = 0;
      double measured_ms = 0;  ///< alone
    };
    std::vector<SubgraphTime> subgraphs;
    std::vector<double> cut_ms;  ///< per cut, to all readers
  };
  std::vector<WayTimes> times;
  std::optional<CostModel> costs;  ///< with PlanOptions::keeps_costs, what was planned with
};

/// The candidates as a table, the chosen one marked.
std::string describe(const PlanReport& report, const SupportTable& table);

}  // namespace het::hetero
