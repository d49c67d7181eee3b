#include "hetero/planner/period_search.h"

#include <algorithm>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

namespace het::hetero {
namespace {

/// Norms by how often loads are squared, from even loads to nearly the highest alone.
constexpr int kSquarings[] = {1, 3, 6};
/// The highest load itself.
constexpr int kHighest = -1;
/// A pass looks at every unit and every tensor.
constexpr int kMaxPasses = 20;
/// Moves to look at, about a microsecond each.
constexpr size_t kMaxTrials = 20'000;

/// An assignment with its loads, changed unit by unit.
class LoadedAssignment {
 public:
  LoadedAssignment(const PlanProblem& problem, Assignment assignment, LinkUse links)
      : problem_(problem),
        tensors_(problem),
        counts_links_(links == LinkUse::OnePerPair),
        assignment_(std::move(assignment)) {
    const Loads load = loads(problem, assignment_, links);
    load_ = load.devices;
    load_.insert(load_.end(), load.links.begin(), load.links.end());
  }

  const Assignment& assignment() const { return assignment_; }
  /// Remembers the loads, and takes moves since then back.
  void mark() {
    marked_load_ = load_;
    marked_impossible_ = impossible_;
    moved_.clear();
  }
  void take_back() {
    load_ = marked_load_;
    impossible_ = marked_impossible_;
    for (size_t i = moved_.size(); i-- > 0;) assignment_[moved_[i].first] = moved_[i].second;
  }
  double highest() const { return *std::ranges::max_element(load_); }
  /// The sum of the loads, each as a part of `scale`, squared so often; or the highest.
  double cost(int squarings, double scale) const {
    if (impossible_ > 0) return kImpossible;
    if (squarings == kHighest) return highest();
    double sum = 0;
    for (double load : load_) {
      load /= scale;
      for (int i = 0; i < squarings; ++i) load *= load;
      sum += load;
    }
    return sum;
  }

  void move(size_t unit, size_t device) {
    count(unit, -1);
    moved_.emplace_back(unit, assignment_[unit]);
    assignment_[unit] = device;
    count(unit, 1);
  }

 private:
  /// Adds or subtracts the unit and all transfers of its tensors.
  void count(size_t unit, double sign) {
    const size_t device = assignment_[unit];
    load_[device] += sign * problem_.units[unit].seconds[device];
    for (const size_t t : tensors_.inputs[unit]) count_transfers(t, sign);
    for (const size_t t : tensors_.outputs[unit]) count_transfers(t, sign);
  }
  void count_transfers(size_t t, double sign) {
    const PlanTensor& tensor = problem_.tensors[t];
    const size_t from = source_place(problem_, tensor, assignment_);
    for_each_place(destinations(problem_, tensor, assignment_), [&](size_t to) {
      const size_t link = from * problem_.places() + to;
      const double seconds = tensor.transfer_seconds[link];
      if (seconds == kImpossible) {
        impossible_ += sign > 0 ? 1 : -1;
      } else if (counts_links_) {
        load_[problem_.devices + link] += sign * seconds;
      }
    });
  }

  const PlanProblem& problem_;
  UnitTensors tensors_;
  bool counts_links_;
  Assignment assignment_;
  std::vector<double> load_;  // of devices, then of links
  int impossible_ = 0;        // transfers that have no way
  std::vector<double> marked_load_;
  int marked_impossible_ = 0;
  std::vector<std::pair<size_t, size_t>> moved_;  // since mark(): units and where they were
};

class PeriodSearch {
 public:
  PeriodSearch(const PlanProblem& problem, const Assignment& assignment, LinkUse links)
      : problem_(problem), state_(problem, assignment, links), scale_(state_.highest()) {
    for (const PlanTensor& tensor : problem.tensors) {
      std::vector<size_t> ends = tensor.consumers;
      if (tensor.producer != kOutside) ends.push_back(tensor.producer);
      std::ranges::sort(ends);
      const auto repeated = std::ranges::unique(ends);
      ends.erase(repeated.begin(), repeated.end());
      if (ends.size() > 1) ends_.push_back(std::move(ends));
    }
  }

  Assignment run(int kicks) {
    // 1. Down from where it is.
    for (const int squarings : kSquarings) descend(squarings);
    descend(kHighest);
    Assignment best = state_.assignment();
    double least = state_.highest();
    // 2. Again from near the best. mt19937 gives the same numbers everywhere.
    std::mt19937 random(1);
    for (; kicks > 0 && trials_ < kMaxTrials; --kicks) {
      for (int i = 0; i < 2; ++i) {
        const size_t unit = random() % problem_.units.size();
        const size_t device = random() % problem_.devices;
        if (problem_.units[unit].seconds[device] < kImpossible) state_.move(unit, device);
      }
      descend(kSquarings[std::size(kSquarings) / 2]);
      descend(kHighest);
      if (state_.cost(kHighest, scale_) < least) {
        least = state_.highest();
        best = state_.assignment();
      }
      for (size_t unit = 0; unit < best.size(); ++unit) {
        if (state_.assignment()[unit] != best[unit]) state_.move(unit, best[unit]);
      }
    }
    return best;
  }

 private:
  void descend(int squarings) {
    squarings_ = squarings;
    cost_ = state_.cost(squarings, scale_);
    for (int pass = 0; pass < kMaxPasses && trials_ < kMaxTrials; ++pass) {
      bool is_better = false;
      for (size_t unit = 0; unit < problem_.units.size(); ++unit) is_better |= try_units({unit});
      if (is_better) continue;
      for (const std::vector<size_t>& units : ends_) is_better |= try_units(units);
      if (!is_better) return;
    }
  }

  /// Moves the units to the device where that is best; false where they stay.
  bool try_units(const std::vector<size_t>& units) {
    bool is_better = false;
    for (size_t device = 0; device < problem_.devices; ++device) {
      const auto is_allowed = [&](size_t unit) {
        return problem_.units[unit].seconds[device] < kImpossible;
      };
      const auto is_there = [&](size_t unit) { return state_.assignment()[unit] == device; };
      if (!std::ranges::all_of(units, is_allowed) || std::ranges::all_of(units, is_there)) continue;
      ++trials_;
      state_.mark();
      for (const size_t unit : units) {
        if (!is_there(unit)) state_.move(unit, device);
      }
      const double cost = state_.cost(squarings_, scale_);
      if (cost < cost_ * (1 - 1e-9)) {
        cost_ = cost;
        is_better = true;
      } else {
        state_.take_back();
      }
    }
    return is_better;
  }

  const PlanProblem& problem_;
  LoadedAssignment state_;
  double scale_;
  std::vector<std::vector<size_t>> ends_;  // of every tensor: its units
  int squarings_ = kHighest;
  double cost_ = 0;
  size_t trials_ = 0;
};

}  // namespace

Assignment improve_period(const PlanProblem& problem, const Assignment& assignment, LinkUse links,
                          int kicks) {
  const double before = period(problem, assignment, links);
  if (before == 0 || before == kImpossible) return assignment;
  Assignment found = PeriodSearch(problem, assignment, links).run(kicks);
  return period(problem, found, links) < before ? found : assignment;
}

}  // namespace het::hetero
