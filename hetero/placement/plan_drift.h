#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hetero/execution/plan_mix.h"
#include "hetero/placement/placement.h"

namespace het::hetero {

/// A device takes this many times as long as it took for these nodes.
struct SpeedChange {
  size_t device = 0;
  std::vector<size_t> nodes;
  double factor = 1;
};

/// What has become slower or faster since a plan was made.
struct PlanDrift {
  /// For every node on every device that has run something: measured where it runs, as the device
  /// on the whole elsewhere.
  std::vector<SpeedChange> changes;
  /// "chain_1 on OTHER takes 20.1 ms instead of 10.0", for each subgraph that is a third off;
  /// empty: the plan is as it was made.
  std::string text;
};

/// `nodes`: how many the prepared model has. The plans have PlanTimes.
PlanDrift find_drift(const PlanMix& plan, const SupportTable& table, size_t nodes);

}  // namespace het::hetero
