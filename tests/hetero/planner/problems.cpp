#include "planner_problems.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace het::hetero {
namespace {

double uniform(Random& random, double low, double high) {
  return std::uniform_real_distribution<double>(low, high)(random);
}
bool chance(Random& random, double probability) {
  return uniform(random, 0, 1) < probability;
}
size_t below(Random& random, size_t count) {
  return std::uniform_int_distribution<size_t>(0, count - 1)(random);
}

/// What the times of one problem have in common.
struct Style {
  double transfer;     // seconds of a large transfer; units take up to 1
  double zero;         // share of transfers that take no time
  bool is_symmetric;   // as long there as back
  bool is_whole;       // whole numbers, so that many placements are equal
  double unsupported;  // share
  double no_way;       // share
};

Style random_style(Random& random, bool is_possible) {
  Style style{};
  style.transfer = chance(random, 0.1) ? 0.0 : std::pow(10.0, uniform(random, -1.5, 0.5));
  style.zero = chance(random, 0.5) ? 0.0 : 0.4;
  style.is_symmetric = chance(random, 0.3);
  style.is_whole = chance(random, 0.2);
  if (is_possible) return style;
  style.unsupported = chance(random, 0.5) ? 0.0 : 0.2;
  style.no_way = chance(random, 0.8) ? 0.0 : 0.1;
  return style;
}

double random_seconds(Random& random, const Style& style, double most) {
  const double seconds = uniform(random, 0, most);
  return style.is_whole ? std::round(seconds * 4) : seconds;
}

std::vector<double> random_transfers(Random& random, const Style& style, size_t places) {
  std::vector<double> seconds(places * places, 0.0);
  for (size_t from = 0; from < places; ++from) {
    for (size_t to = 0; to < places; ++to) {
      if (from == to || chance(random, style.zero)) continue;
      double& entry = seconds[from * places + to];
      entry = random_seconds(random, style, style.transfer);
      if (style.is_symmetric && to < from) entry = seconds[to * places + from];
      if (chance(random, style.no_way)) entry = kImpossible;
    }
  }
  return seconds;
}

PlanProblem make_problem(Random& random, const ProblemShape& shape, bool is_possible) {
  const Style style = random_style(random, is_possible);
  PlanProblem problem;
  problem.devices = shape.devices;
  problem.home = below(random, shape.devices + 1);
  const auto add_tensor = [&](size_t producer) {
    PlanTensor tensor;
    tensor.producer = producer;
    tensor.transfer_seconds = random_transfers(random, style, problem.places());
    problem.tensors.push_back(std::move(tensor));
  };
  add_tensor(kOutside);
  const double far = uniform(random, 0, 1);
  for (size_t unit = 0; unit < shape.units; ++unit) {
    PlanUnit made;
    for (size_t d = 0; d < shape.devices; ++d) {
      made.seconds.push_back(random_seconds(random, style, 1.0));
      if (chance(random, style.unsupported)) made.seconds.back() = kImpossible;
    }
    problem.units.push_back(std::move(made));
    if (chance(random, 0.05)) add_tensor(kOutside);
    const size_t inputs = 1 + below(random, 3);
    for (size_t i = 0; i < inputs; ++i) {
      const size_t count = problem.tensors.size();
      const size_t taken = chance(random, far) ? below(random, count) : count - 1;
      problem.tensors[taken].consumers.push_back(unit);  // the same one may come twice
    }
    add_tensor(unit);
    if (chance(random, 0.1)) add_tensor(unit);
  }
  for (PlanTensor& tensor : problem.tensors) {
    tensor.leaves = tensor.consumers.empty() || chance(random, 0.1);
  }
  return problem;
}

/// Goes through all assignments unit by unit, with what the units so far cost.
class Enumeration {
 public:
  Enumeration(const PlanProblem& problem, const std::function<double()>& limit,
              const std::function<void(const Assignment&, double)>& visit)
      : problem_(problem),
        tensors_(problem),
        limit_(limit),
        visit_(visit),
        assignment_(problem.units.size()),
        copies_(problem.tensors.size(), std::vector<int>(problem.places(), 0)) {}

  void run(size_t unit, double seconds) {
    if (!(seconds < limit_())) return;
    if (unit == assignment_.size()) return visit_(assignment_, seconds);
    for (size_t device = 0; device < problem_.devices; ++device) {
      assignment_[unit] = device;
      double added = problem_.units[unit].seconds[device];
      for (const size_t t : tensors_.inputs[unit]) {
        const PlanTensor& tensor = problem_.tensors[t];
        const size_t from =
            tensor.producer == kOutside ? problem_.home : assignment_[tensor.producer];
        const bool is_result_there = tensor.leaves && device == problem_.home;
        if (copies_[t][device]++ == 0 && !is_result_there)
          added += seconds_of(tensor, from, device);
      }
      for (const size_t t : tensors_.outputs[unit]) {
        const PlanTensor& tensor = problem_.tensors[t];
        if (tensor.leaves) added += seconds_of(tensor, device, problem_.home);
      }
      run(unit + 1, seconds + added);
      for (const size_t t : tensors_.inputs[unit]) --copies_[t][device];
    }
  }

 private:
  double seconds_of(const PlanTensor& tensor, size_t from, size_t to) const {
    return tensor.transfer_seconds[from * problem_.places() + to];
  }

  const PlanProblem& problem_;
  UnitTensors tensors_;
  const std::function<double()>& limit_;
  const std::function<void(const Assignment&, double)>& visit_;
  Assignment assignment_;
  std::vector<std::vector<int>> copies_;
};

}  // namespace

PlanProblem random_problem(Random& random, const ProblemShape& shape) {
  return make_problem(random, shape, false);
}

PlanProblem random_possible_problem(Random& random, const ProblemShape& shape) {
  return make_problem(random, shape, true);
}

namespace {

/// Times of their own for units that read what `inputs` says, by index of the tensor; unit i gives
/// tensor i + 1.
PlanProblem read_problem(Random& random, const ProblemShape& shape,
                         const std::function<std::vector<size_t>(size_t)>& inputs) {
  PlanProblem problem;
  problem.devices = shape.devices;
  problem.home = shape.devices;
  const Style style{0.3, 0.0, false, false, 0.0, 0.0};
  for (size_t unit = 0; unit <= shape.units; ++unit) {
    PlanTensor tensor;
    if (unit > 0) tensor.producer = unit - 1;
    tensor.leaves = unit == shape.units;
    tensor.transfer_seconds = random_transfers(random, style, problem.places());
    problem.tensors.push_back(std::move(tensor));
  }
  for (size_t unit = 0; unit < shape.units; ++unit) {
    PlanUnit made;
    for (size_t d = 0; d < shape.devices; ++d) made.seconds.push_back(uniform(random, 0, 1));
    problem.units.push_back(std::move(made));
    for (const size_t t : inputs(unit)) problem.tensors[t].consumers.push_back(unit);
  }
  return problem;
}

}  // namespace

PlanProblem residual_problem(Random& random, const ProblemShape& shape) {
  return read_problem(random, shape, [](size_t unit) {
    // The third unit of a block reads the block's input too.
    return unit % 3 == 2 ? std::vector{unit, unit - 2} : std::vector{unit};
  });
}

PlanProblem dense_problem(Random& random, const ProblemShape& shape) {
  return read_problem(random, shape, [](size_t unit) {
    std::vector<size_t> all(unit + 1);
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  });
}

void enumerate(const PlanProblem& problem, const std::function<double()>& limit,
               const std::function<void(const Assignment&, double)>& visit) {
  Enumeration(problem, limit, visit).run(0, 0.0);
}

double least_latency(const PlanProblem& problem) {
  double least = kImpossible;
  enumerate(
      problem, [&] { return least; }, [&](const Assignment&, double seconds) { least = seconds; });
  return least;
}

bool is_close(double a, double b) {
  return a == b || std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

std::string to_text(const PlanProblem& problem) {
  std::string text = fmt::format("{} devices, home {}\n", problem.devices, problem.home);
  for (const PlanUnit& unit : problem.units) text += fmt::format("unit {}\n", unit.seconds);
  for (const PlanTensor& tensor : problem.tensors) {
    text += fmt::format("tensor {} -> {}{} {}\n", static_cast<ptrdiff_t>(tensor.producer),
                        tensor.consumers, tensor.leaves ? " out" : "", tensor.transfer_seconds);
  }
  return text;
}

}  // namespace het::hetero
