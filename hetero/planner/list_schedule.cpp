#include "hetero/planner/list_schedule.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <utility>

namespace het::hetero {
namespace {

/// Seconds of a unit, and of a tensor on its way to a consumer (or to home: kOutside), as a rank
/// counts them.
template <class UnitSeconds, class TensorSeconds>
std::vector<double> rank_backwards(const PlanProblem& problem, const UnitSeconds& unit_seconds,
                                   const TensorSeconds& tensor_seconds) {
  const UnitTensors tensors(problem);
  std::vector<double> rank(problem.units.size());
  for (size_t unit = rank.size(); unit-- > 0;) {
    double behind = 0;
    for (const size_t t : tensors.outputs[unit]) {
      const PlanTensor& tensor = problem.tensors[t];
      if (tensor.leaves) behind = std::max(behind, tensor_seconds(tensor, kOutside));
      for (const size_t consumer : tensor.consumers) {
        behind = std::max(behind, tensor_seconds(tensor, consumer) + rank[consumer]);
      }
    }
    rank[unit] = unit_seconds(unit) + behind;
  }
  return rank;
}

/// Of the numbers that are possible; zero where none is.
double mean(const std::vector<double>& seconds) {
  double sum = 0;
  size_t count = 0;
  for (const double value : seconds) {
    if (value < kImpossible) sum += value, ++count;
  }
  return count ? sum / static_cast<double>(count) : 0;
}

double deviation(const std::vector<double>& seconds) {
  const double middle = mean(seconds);
  std::vector<double> squares;
  for (const double value : seconds) squares.push_back((value - middle) * (value - middle));
  return std::sqrt(mean(squares));
}

/// Transfers between different devices, or from devices to home.
std::vector<double> device_transfers(const PlanProblem& problem, const PlanTensor& tensor,
                                     bool to_home) {
  std::vector<double> seconds;
  const size_t places = problem.places();
  for (size_t from = 0; from < problem.devices; ++from) {
    for (size_t to = 0; to < places; ++to) {
      const bool counts = to_home ? to == problem.home : to < problem.devices && to != from;
      if (counts) seconds.push_back(tensor.transfer_seconds[from * places + to]);
    }
  }
  return seconds;
}

/// Times at which a device is taken, in order.
class BusyTimes {
 public:
  /// The earliest start from `ready` on with `seconds` free behind it.
  double find(double ready, double seconds) const {
    double start = ready;
    auto next = std::ranges::upper_bound(taken_, ready, {}, &Span::second);
    for (; next != taken_.end() && next->first < start + seconds; ++next) {
      start = std::max(start, next->second);
    }
    return start;
  }
  void take(double start, double finish) {
    if (start == finish) return;
    const Span span{start, finish};
    taken_.insert(std::ranges::upper_bound(taken_, span), span);
  }

 private:
  using Span = std::pair<double, double>;
  std::vector<Span> taken_;
};

/// The state of a list schedule: what is placed so far.
class Placing {
 public:
  Placing(const PlanProblem& problem, LinkUse links)
      : problem_(problem),
        links_(links),
        tensors_(problem),
        busy_(problem.devices),
        link_free_(problem.places() * problem.places(), 0.0),
        arrival_(problem.tensors.size() * problem.places(), -1.0),
        start_(problem.units.size()),
        assignment_(problem.units.size()) {
    for (size_t t = 0; t < problem.tensors.size(); ++t) {
      if (problem.tensors[t].producer == kOutside) arrival(t, problem.home) = 0;
    }
  }

  void place(size_t unit) {
    size_t best = 0;
    double best_finish = kImpossible;
    for (size_t device = 0; device < problem_.devices; ++device) {
      const double seconds = problem_.units[unit].seconds[device];
      if (seconds == kImpossible) continue;
      const double finish = busy_[device].find(ready(unit, device, false), seconds) + seconds;
      if (finish < best_finish || best_finish == kImpossible) best = device;
      best_finish = std::min(best_finish, finish);
    }
    const double seconds = problem_.units[unit].seconds[best];
    assignment_[unit] = best;
    start_[unit] = busy_[best].find(ready(unit, best, true), seconds);
    busy_[best].take(start_[unit], start_[unit] + seconds);
    for (const size_t t : tensors_.outputs[unit]) arrival(t, best) = start_[unit] + seconds;
  }

  Schedule schedule() && {
    Schedule made{std::move(assignment_), std::vector<size_t>(start_.size())};
    std::iota(made.order.begin(), made.order.end(), size_t{0});
    std::ranges::stable_sort(made.order, {}, [&](size_t unit) { return start_[unit]; });
    return made;
  }

 private:
  double& arrival(size_t tensor, size_t place) {
    return arrival_[tensor * problem_.places() + place];
  }
  /// When all tensors of a unit are on a device; `sends` takes the links up for it.
  double ready(size_t unit, size_t device, bool sends) {
    const size_t places = problem_.places();
    std::vector<double> free = link_free_;
    double ready = 0;
    for (const size_t t : tensors_.inputs[unit]) {
      double there = arrival(t, device);
      if (there < 0) {
        const PlanTensor& tensor = problem_.tensors[t];
        const size_t link = source_place(problem_, tensor, assignment_) * places + device;
        const double produced = arrival(t, link / places);
        const double seconds = tensor.transfer_seconds[link];
        const bool waits = seconds > 0 && links_ == LinkUse::OnePerPair;
        there = (waits ? std::max(produced, free[link]) : produced) + seconds;
        if (waits) free[link] = there;
        if (sends) arrival(t, device) = there;
      }
      ready = std::max(ready, there);
    }
    if (sends) link_free_ = std::move(free);
    return ready;
  }

  const PlanProblem& problem_;
  LinkUse links_;
  UnitTensors tensors_;
  std::vector<BusyTimes> busy_;
  std::vector<double> link_free_;
  std::vector<double> arrival_;  // [tensor * places + place], negative before it is sent
  std::vector<double> start_;
  Assignment assignment_;
};

}  // namespace

std::vector<double> upward_rank(const PlanProblem& problem) {
  return rank_backwards(
      problem, [&](size_t unit) { return mean(problem.units[unit].seconds); },
      [&](const PlanTensor& tensor, size_t consumer) {
        return mean(device_transfers(problem, tensor, consumer == kOutside));
      });
}

std::vector<double> one_rank(const PlanProblem& problem) {
  constexpr double kMicroseconds = 1e6;
  const auto unit_rank = [&](size_t unit) {
    const std::vector<double>& seconds = problem.units[unit].seconds;
    return kMicroseconds * mean(seconds) * std::max(1.0, kMicroseconds * deviation(seconds));
  };
  const auto tensor_rank = [&](const PlanTensor& tensor, size_t consumer) {
    const std::vector<double> seconds = device_transfers(problem, tensor, consumer == kOutside);
    const double total = mean(seconds) * static_cast<double>(seconds.size());
    return kMicroseconds * total / static_cast<double>(problem.devices);
  };
  return rank_backwards(problem, unit_rank, tensor_rank);
}

std::vector<double> assigned_rank(const PlanProblem& problem, const Assignment& assignment) {
  const auto transfer = [&](const PlanTensor& tensor, size_t consumer) {
    const size_t to = consumer == kOutside ? problem.home : assignment[consumer];
    return tensor
        .transfer_seconds[source_place(problem, tensor, assignment) * problem.places() + to];
  };
  return rank_backwards(
      problem, [&](size_t unit) { return problem.units[unit].seconds[assignment[unit]]; },
      transfer);
}

std::vector<size_t> rank_order(const PlanProblem& problem, const std::vector<double>& rank) {
  std::vector<size_t> missing(problem.units.size(), 0);
  for (const PlanTensor& tensor : problem.tensors) {
    if (tensor.producer == kOutside) continue;
    for (const size_t consumer : tensor.consumers) ++missing[consumer];
  }
  const UnitTensors tensors(problem);
  const auto is_later = [&](size_t a, size_t b) {
    return rank[a] != rank[b] ? rank[a] < rank[b] : a > b;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(is_later)> ready(is_later);
  for (size_t unit = 0; unit < missing.size(); ++unit) {
    if (missing[unit] == 0) ready.push(unit);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const size_t t : tensors.outputs[order.back()]) {
      for (const size_t consumer : problem.tensors[t].consumers) {
        if (--missing[consumer] == 0) ready.push(consumer);
      }
    }
  }
  return order;
}

Schedule list_schedule(const PlanProblem& problem, const std::vector<double>& rank, LinkUse links) {
  Placing placing(problem, links);
  for (const size_t unit : rank_order(problem, rank)) placing.place(unit);
  return std::move(placing).schedule();
}

}  // namespace het::hetero
