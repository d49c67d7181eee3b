#pragma once

#include <optional>

#include "hetero/planner/elimination.h"
#include "hetero/planner/plan_problem.h"

namespace het::hetero {

/// How a latency plan came about.
enum class LatencyMethod {
  MinCut,       ///< exact
  Elimination,  ///< exact
  PairMoves,    ///< the graph is too wide for tables: best moves between two devices at a time
};

struct LatencyPlan {
  Assignment assignment;  ///< empty where every placement is impossible
  double seconds = kImpossible;
  LatencyMethod method = LatencyMethod::MinCut;
  bool is_exact() const { return method != LatencyMethod::PairMoves; }
};

/// Solves problems that differ in times only. Two devices: min_cut. Else Elimination where its
/// tables are small enough. Else the fastest device of every unit and the best single device (what
/// it does not run goes where it is fastest) are improved by best_pair_move until no pair of
/// devices finds any. Reentrant once made.
class LatencySolver {
 public:
  explicit LatencySolver(const PlanProblem& problem, size_t max_entries = Elimination::kMaxEntries);

  LatencyMethod method() const { return method_; }
  /// Entries of tables that solve() goes through; zero for other methods.
  size_t entries() const { return elimination_ ? elimination_->entries() : 0; }
  /// `problem` may differ from the constructor's in its times; what was impossible remains so.
  /// Pair moves begin with `start` alone where it is given.
  LatencyPlan solve(const PlanProblem& problem, const Assignment& start = {}) const;

 private:
  LatencyMethod method_;
  std::optional<Elimination> elimination_;
};

/// The placement of least latency(). InvalidArgument as check_problem says; NotSupported where
/// nothing runs a unit or no placement has a way for every tensor.
Result<LatencyPlan> latency_plan(const PlanProblem& problem);

}  // namespace het::hetero
