#include "hetero/planner/throughput_plan.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "hetero/planner/latency_plan.h"
#include "hetero/planner/mix_program.h"
#include "hetero/planner/period_search.h"
#include "hetero/planner/single_device.h"

namespace het::hetero {
namespace {

/// Entries of tables for all columns together, about 100 ms.
constexpr size_t kTableWork = size_t{3} << 23;
/// Columns at most, and where each takes many cuts.
constexpr size_t kMaxColumns = 200;
constexpr size_t kMaxPairColumns = 24;
/// A mix this near to its bound is the best.
constexpr double kGap = 1e-7;
/// Plans with smaller shares are left out.
constexpr double kLeastShare = 1e-6;
/// Of the program's plans, those that one-plan mode begins with.
constexpr size_t kMaxStarts = 4;
/// Searches from near the best of them.
constexpr int kKicks = 20;

class ColumnGeneration {
 public:
  /// `fastest`: the placement of least latency, which takes time.
  ColumnGeneration(const PlanProblem& problem, LinkUse links, const LatencyPlan& fastest)
      : problem_(problem),
        links_(links),
        scale_(1 / fastest.seconds),
        solver_(problem),
        priced_(problem),
        program_(problem.devices + problem.places() * problem.places()) {
    for (size_t device = 0; device < problem.devices; ++device) {
      add(single_device_plan(problem, device).assignment);
    }
    add(fastest.assignment);
  }

  /// A placement that takes no time of any device or link; empty where none was found.
  const Assignment& endless() const { return endless_; }

  void run() {
    const bool is_exact = solver_.method() != LatencyMethod::PairMoves;
    size_t columns = is_exact ? kMaxColumns : kMaxPairColumns;
    if (solver_.entries() > 0) columns = std::min(columns, kTableWork / solver_.entries());
    for (size_t column = 0; column <= columns && endless_.empty(); ++column) {
      program_.solve();
      // Prices of a sum of one: work in them is the seconds of an average resource.
      prices_ = program_.prices();
      const double sum = std::accumulate(prices_.begin(), prices_.end(), 0.0);
      for (double& price : prices_) price /= sum;
      const LatencyPlan priced = solver_.solve(at_prices(), assignments_.back());
      if (is_exact && priced.seconds > 0) bound_ = std::min(bound_, 1 / priced.seconds);
      const bool is_best = priced.seconds * scale_ * program_.total() >= 1 - kGap;
      if (is_best || known_.contains(priced.assignment)) return;
      add(priced.assignment);
    }
    program_.solve();
  }

  ThroughputPlan mix() const {
    ThroughputPlan plan;
    const std::vector<double> rates = program_.rates();
    double sum = 0;
    for (const double rate : rates) sum += rate >= kLeastShare * program_.total() ? rate : 0;
    for (size_t i = 0; i < rates.size(); ++i) {
      const bool is_used = rates[i] >= kLeastShare * program_.total();
      if (is_used) plan.plans.push_back({assignments_[i], rates[i] / sum});
    }
    std::ranges::stable_sort(plan.plans, std::greater<>{}, &PlanShare::share);
    plan.frames_per_second = sum * scale_;
    plan.bound_frames_per_second = std::max(bound_, plan.frames_per_second);
    plan.prices = prices_;
    return plan;
  }

  /// All columns, those of the mix first.
  std::vector<Assignment> assignments() const {
    std::vector<size_t> order(assignments_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const std::vector<double> rates = program_.rates();
    std::ranges::stable_sort(order, std::greater<>{}, [&](size_t i) { return rates[i]; });
    std::vector<Assignment> sorted;
    for (const size_t i : order) sorted.push_back(assignments_[i]);
    return sorted;
  }

 private:
  void add(const Assignment& assignment) {
    if (assignment.size() != problem_.units.size() || !known_.insert(assignment).second) return;
    const Loads load = loads(problem_, assignment, links_);
    std::vector<double> work = load.devices;
    work.insert(work.end(), load.links.begin(), load.links.end());
    for (double& seconds : work) seconds *= scale_;
    if (*std::ranges::max_element(work) <= 0) endless_ = assignment;
    program_.add_plan(std::move(work));
    assignments_.push_back(assignment);
  }

  /// The problem with every second at the price of what it occupies.
  const PlanProblem& at_prices() {
    const bool counts_links = links_ == LinkUse::OnePerPair;
    const auto at_price = [](double seconds, double price) {
      return seconds < kImpossible ? seconds * price : kImpossible;
    };
    for (size_t unit = 0; unit < problem_.units.size(); ++unit) {
      const std::vector<double>& seconds = problem_.units[unit].seconds;
      for (size_t d = 0; d < seconds.size(); ++d) {
        priced_.units[unit].seconds[d] = at_price(seconds[d], prices_[d]);
      }
    }
    for (size_t t = 0; t < problem_.tensors.size(); ++t) {
      const std::vector<double>& seconds = problem_.tensors[t].transfer_seconds;
      for (size_t link = 0; link < seconds.size(); ++link) {
        priced_.tensors[t].transfer_seconds[link] =
            at_price(seconds[link], counts_links ? prices_[problem_.devices + link] : 0.0);
      }
    }
    return priced_;
  }

  const PlanProblem& problem_;
  LinkUse links_;
  double scale_;  // the program's times are parts of the least latency
  LatencySolver solver_;
  PlanProblem priced_;
  MixProgram program_;
  std::vector<Assignment> assignments_;  // of the program's plans
  std::set<Assignment> known_;
  Assignment endless_;
  std::vector<double> prices_;
  double bound_ = kImpossible;
};

/// A frame that keeps nothing busy.
ThroughputPlan endless(Assignment assignment) {
  ThroughputPlan plan;
  plan.plans.push_back({std::move(assignment), 1.0});
  plan.frames_per_second = kImpossible;
  return plan;
}

}  // namespace

Result<ThroughputPlan> throughput_plan(const PlanProblem& problem,
                                       const ThroughputOptions& options) {
  HET_ASSIGN(LatencyPlan fastest, latency_plan(problem));
  if (problem.units.empty() || period(problem, fastest.assignment, options.links) == 0)
    return endless(std::move(fastest.assignment));
  // 1. The mix.
  ColumnGeneration columns(problem, options.links, fastest);
  columns.run();
  if (!columns.endless().empty()) return endless(columns.endless());
  ThroughputPlan plan = columns.mix();
  if (!options.one_plan) return plan;
  // 2. One plan: the best of all columns after a search from those that the mix likes best.
  std::vector<Assignment> starts = columns.assignments();
  double least = kImpossible;
  PlanShare best;
  const auto consider = [&](const Assignment& assignment) {
    const double seconds = period(problem, assignment, options.links);
    if (seconds >= least) return;
    least = seconds;
    best = {assignment, 1.0};
  };
  for (const Assignment& assignment : starts) consider(assignment);
  starts.resize(std::min(starts.size(), kMaxStarts));
  for (const Assignment& assignment : starts) {
    consider(improve_period(problem, assignment, options.links));
  }
  consider(improve_period(problem, Assignment(best.assignment), options.links, kKicks));
  plan.plans = {std::move(best)};
  plan.frames_per_second = 1 / least;
  return plan;
}

}  // namespace het::hetero
