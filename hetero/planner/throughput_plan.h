#pragma once

#include "hetero/planner/simulator.h"

namespace het::hetero {

struct ThroughputOptions {
  LinkUse links = LinkUse::OnePerPair;
  bool one_plan = false;  ///< all frames take the same placement
};

/// A placement and the part of all frames that take it.
struct PlanShare {
  Assignment assignment;
  double share = 0;
};

/// Frames that take different ways. Devices that each run the whole model (MULTI) and a single
/// device are special cases.
struct ThroughputPlan {
  std::vector<PlanShare> plans;  ///< the greatest share first; the shares' sum is one
  /// With so many requests in flight that the busiest device or link never waits; infinite where a
  /// frame takes no time.
  double frames_per_second = 0;
  /// No mix of whatever placements has more. Infinite where the graph was too wide for exact
  /// prices.
  double bound_frames_per_second = kImpossible;
  /// What more of each would bring: parts of one, of devices and then of links (from * places +
  /// to). Those of zero are not what limits.
  std::vector<double> prices;
  /// Equal to the bound up to rounding.
  bool is_exact() const { return frames_per_second >= bound_frames_per_second * (1 - 1e-6); }
};

/// The mix of placements with most frames per second: a linear program over all placements, whose
/// columns are found one by one as placements of least latency in prices of devices and links.
///
/// With one_plan, which is a hard problem (two devices and free transfers make it that of equal
/// parts), the best of the program's placements, the single devices and the least latency, each
/// improved by improve_period(): the bound is that of mixes. Errors as latency_plan().
Result<ThroughputPlan> throughput_plan(const PlanProblem& problem,
                                       const ThroughputOptions& options = {});

}  // namespace het::hetero
