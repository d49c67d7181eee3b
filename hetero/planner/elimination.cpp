#include "hetero/planner/elimination.h"

#include <algorithm>
#include <set>
#include <utility>

namespace het::hetero {
namespace {

/// Sets of places are values of a variable, and a choice among them takes 16 bits.
constexpr size_t kMaxCopies = 12;

std::vector<size_t> distinct_consumers(const PlanTensor& tensor) {
  std::vector<size_t> consumers = tensor.consumers;
  std::ranges::sort(consumers);
  const auto repeated = std::ranges::unique(consumers);
  consumers.erase(repeated.begin(), repeated.end());
  return consumers;
}

/// Places where the tensor costs nothing more: home, when it is needed there anyway or comes from
/// there.
bool is_paid(const PlanProblem& problem, const PlanTensor& tensor, size_t place) {
  return place == problem.home && (tensor.leaves || tensor.producer == kOutside);
}

double transfer(const PlanProblem& problem, const PlanTensor& tensor, size_t from, size_t to) {
  return tensor.transfer_seconds[from * problem.places() + to];
}

/// Variables that share a table with each variable, while some are taken out.
class Neighbours {
 public:
  explicit Neighbours(std::vector<double> sizes) : sizes_(std::move(sizes)), of_(sizes_.size()) {}

  void join(size_t a, size_t b) {
    insert(of_[a], b);
    insert(of_[b], a);
  }
  const std::vector<size_t>& of(size_t variable) const { return of_[variable]; }
  /// Entries that taking the variable out looks at.
  double cost(size_t variable) const {
    double entries = sizes_[variable];
    for (const size_t other : of_[variable]) entries *= sizes_[other];
    return entries;
  }
  /// Its neighbours become neighbours of one another.
  std::vector<size_t> take_out(size_t variable) {
    const std::vector<size_t> rest = std::exchange(of_[variable], {});
    for (const size_t other : rest) {
      std::vector<size_t>& around = of_[other];
      around.erase(std::ranges::lower_bound(around, variable));
      for (const size_t third : rest) {
        if (third != other) insert(around, third);
      }
    }
    return rest;
  }

 private:
  static void insert(std::vector<size_t>& sorted, size_t variable) {
    const auto position = std::ranges::lower_bound(sorted, variable);
    if (position == sorted.end() || *position != variable) sorted.insert(position, variable);
  }

  std::vector<double> sizes_;
  std::vector<std::vector<size_t>> of_;
};

}  // namespace

Elimination::Elimination(const PlanProblem& problem, size_t max_entries)
    : unary_(problem.units.size()) {
  // 1. A variable for every unit, a factor for all that depends on its device alone.
  for (size_t unit = 0; unit < problem.units.size(); ++unit) {
    std::vector<uint32_t> devices;
    for (size_t d = 0; d < problem.devices; ++d) {
      if (problem.units[unit].seconds[d] < kImpossible) devices.push_back(static_cast<uint32_t>(d));
    }
    if (devices.empty()) devices.push_back(0);  // then every sum is infinite
    values_.push_back(std::move(devices));
    add_factor(Factor::Kind::Unit, 0, {unit});
  }
  // 2. What depends on several devices.
  fits_ = true;
  for (size_t t = 0; t < problem.tensors.size() && fits_; ++t) add_tensor(problem, t);
  // 3. An order with small tables.
  fits_ = fits_ && order_variables(max_entries);
  if (fits_) lay_out_tables();
}

void Elimination::add_tensor(const PlanProblem& problem, size_t index) {
  const PlanTensor& tensor = problem.tensors[index];
  const bool is_input = tensor.producer == kOutside;
  const std::vector<size_t> consumers = distinct_consumers(tensor);
  if (consumers.size() < 2) {
    const bool is_pair = !is_input && !consumers.empty();
    if (is_pair) add_factor(Factor::Kind::Pair, index, {tensor.producer, consumers[0]});
    if (is_input && !consumers.empty()) unary_[consumers[0]].push_back(index);
    if (!is_input && consumers.empty()) unary_[tensor.producer].push_back(index);
    return;
  }
  std::set<uint32_t> places;
  for (const size_t consumer : consumers) {
    places.insert(values_[consumer].begin(), values_[consumer].end());
  }
  std::erase_if(places, [&](uint32_t place) { return is_paid(problem, tensor, place); });
  if (places.size() > kMaxCopies) {
    fits_ = false;
    return;
  }
  std::vector<uint32_t> sets{0};
  for (const uint32_t place : places) {
    const size_t count = sets.size();
    for (size_t i = 0; i < count; ++i) sets.push_back(sets[i] | uint32_t{1} << place);
  }
  const size_t copies = values_.size();
  values_.push_back(std::move(sets));
  add_factor(Factor::Kind::Copies, index,
             is_input ? std::vector{copies} : std::vector{tensor.producer, copies});
  for (const size_t consumer : consumers) {
    add_factor(Factor::Kind::Contains, index, {consumer, copies});
  }
}

void Elimination::add_factor(Factor::Kind kind, size_t tensor, std::vector<size_t> variables) {
  Factor factor{kind, tensor, std::move(variables), table_size_, 1};
  for (const size_t variable : factor.variables) factor.size *= values_[variable].size();
  table_size_ += factor.size;
  factors_.push_back(std::move(factor));
}

bool Elimination::order_variables(size_t max_entries) {
  std::vector<double> sizes;
  for (const auto& values : values_) sizes.push_back(static_cast<double>(values.size()));
  Neighbours neighbours(std::move(sizes));
  for (const Factor& factor : factors_) {
    if (factor.variables.size() == 2) neighbours.join(factor.variables[0], factor.variables[1]);
  }
  std::set<std::pair<double, size_t>> queue;
  std::vector<double> costs;
  for (size_t v = 0; v < values_.size(); ++v) {
    costs.push_back(neighbours.cost(v));
    queue.emplace(costs[v], v);
  }
  double total = static_cast<double>(table_size_);
  while (!queue.empty()) {
    const auto [cost, variable] = *queue.begin();
    queue.erase(queue.begin());
    total += cost;
    if (total > static_cast<double>(max_entries)) return false;
    Step step;
    step.variable = variable;
    step.values = values_[variable].size();
    step.rest = neighbours.take_out(variable);
    for (const size_t other : step.rest) {
      queue.erase({costs[other], other});
      costs[other] = neighbours.cost(other);
      queue.emplace(costs[other], other);
      step.sizes.push_back(values_[other].size());
      step.size *= step.sizes.back();
    }
    steps_.push_back(std::move(step));
  }
  entries_ = static_cast<size_t>(total);
  return true;
}

void Elimination::lay_out_tables() {
  // A table goes to the step of the first of its variables to be taken out.
  std::vector<size_t> step_of(values_.size());
  for (size_t s = 0; s < steps_.size(); ++s) step_of[steps_[s].variable] = s;
  const auto hand_over = [&](size_t table, const std::vector<size_t>& variables) {
    if (variables.empty()) return;
    size_t first = steps_.size();
    for (const size_t variable : variables) first = std::min(first, step_of[variable]);
    steps_[first].inputs.push_back(layout(table, variables, steps_[first]));
  };
  for (const Factor& factor : factors_) hand_over(factor.table, factor.variables);
  for (Step& step : steps_) {
    step.table = table_size_;
    step.choice = choice_size_;
    table_size_ += step.size;
    choice_size_ += step.size;
    hand_over(step.table, step.rest);
  }
}

Elimination::Input Elimination::layout(size_t table, const std::vector<size_t>& variables,
                                       const Step& step) const {
  Input input{table, 0, std::vector<size_t>(step.rest.size(), 0)};
  size_t stride = 1;
  for (size_t i = variables.size(); i-- > 0;) {
    const auto position = std::ranges::find(step.rest, variables[i]);
    if (position == step.rest.end()) {
      input.variable_stride = stride;
    } else {
      input.strides[static_cast<size_t>(position - step.rest.begin())] = stride;
    }
    stride *= values_[variables[i]].size();
  }
  return input;
}

double Elimination::unit_seconds(const PlanProblem& problem, size_t unit, size_t device) const {
  double seconds = problem.units[unit].seconds[device];
  for (const size_t t : unary_[unit]) {
    const PlanTensor& tensor = problem.tensors[t];
    if (tensor.producer == kOutside) seconds += transfer(problem, tensor, problem.home, device);
    if (tensor.producer == unit && tensor.leaves)
      seconds += transfer(problem, tensor, device, problem.home);
  }
  return seconds;
}

void Elimination::fill_factor(const PlanProblem& problem, const Factor& factor,
                              double* entries) const {
  const std::vector<uint32_t>& rows = values_[factor.variables.front()];
  if (factor.kind == Factor::Kind::Unit) {
    for (const uint32_t device : rows)
      *entries++ = unit_seconds(problem, factor.variables[0], device);
    return;
  }
  const PlanTensor& tensor = problem.tensors[factor.tensor];
  const std::vector<uint32_t>& columns = values_[factor.variables.back()];
  const auto result_seconds = [&](size_t from) {
    return tensor.leaves ? transfer(problem, tensor, from, problem.home) : 0.0;
  };
  const auto copies_seconds = [&](size_t from, uint32_t set) {
    double seconds = result_seconds(from);
    for (size_t to = 0; to < problem.devices; ++to) {
      if (set >> to & 1) seconds += transfer(problem, tensor, from, to);
    }
    return seconds;
  };
  switch (factor.kind) {
    case Factor::Kind::Unit:
      break;
    case Factor::Kind::Pair:
      for (const uint32_t from : rows) {
        for (const uint32_t to : columns) {
          const bool is_paid_for = is_paid(problem, tensor, to);
          *entries++ =
              result_seconds(from) + (is_paid_for ? 0.0 : transfer(problem, tensor, from, to));
        }
      }
      break;
    case Factor::Kind::Copies:
      if (factor.variables.size() == 1) {
        for (const uint32_t set : columns) *entries++ = copies_seconds(problem.home, set);
        break;
      }
      for (const uint32_t from : rows) {
        for (const uint32_t set : columns) *entries++ = copies_seconds(from, set);
      }
      break;
    case Factor::Kind::Contains:
      for (const uint32_t device : rows) {
        for (const uint32_t set : columns) {
          const bool is_there = (set >> device & 1) != 0 || is_paid(problem, tensor, device);
          *entries++ = is_there ? 0.0 : kImpossible;
        }
      }
      break;
  }
}

void Elimination::run_step(const Step& step, std::vector<double>& tables,
                           std::vector<uint16_t>& choices, std::vector<double>& sums) {
  // Loops: tables, the rest but the last of it as a counter, the last of the rest, the variable.
  const size_t count = step.values;
  const size_t outer = step.rest.empty() ? 0 : step.rest.size() - 1;
  const size_t inner = step.rest.empty() ? 1 : step.sizes.back();
  sums.assign(step.size * count, 0.0);
  std::vector<size_t> index(outer);
  for (const Input& input : step.inputs) {
    const double* entry = tables.data() + input.table;
    const size_t inner_stride = step.rest.empty() ? 0 : input.strides.back();
    std::ranges::fill(index, size_t{0});
    for (double* sum = sums.data(); sum != sums.data() + sums.size();) {
      for (size_t j = 0; j < inner; ++j, sum += count) {
        const double* const column = entry + j * inner_stride;
        for (size_t k = 0; k < count; ++k) sum[k] += column[k * input.variable_stride];
      }
      for (size_t i = outer; i-- > 0;) {
        entry += input.strides[i];
        if (++index[i] < step.sizes[i]) break;
        index[i] = 0;
        entry -= input.strides[i] * step.sizes[i];
      }
    }
  }
  const double* sum = sums.data();
  for (size_t i = 0; i < step.size; ++i, sum += count) {
    size_t least = 0;
    for (size_t k = 1; k < count; ++k) least = sum[k] < sum[least] ? k : least;
    tables[step.table + i] = sum[least];
    choices[step.choice + i] = static_cast<uint16_t>(least);
  }
}

Assignment Elimination::solve(const PlanProblem& problem) const {
  std::vector<double> tables(table_size_);
  std::vector<uint16_t> choices(choice_size_);
  std::vector<double> sums;
  // 1. What every part costs.
  for (const Factor& factor : factors_) {
    fill_factor(problem, factor, tables.data() + factor.table);
  }
  // 2. Variables are taken out in order: the best value for every choice of the rest.
  for (const Step& step : steps_) run_step(step, tables, choices, sums);
  // 3. Backwards, the rest is known, and so is the best value.
  std::vector<size_t> chosen(values_.size());
  for (size_t s = steps_.size(); s-- > 0;) {
    const Step& step = steps_[s];
    size_t position = 0;
    for (const size_t variable : step.rest) {
      position = position * values_[variable].size() + chosen[variable];
    }
    chosen[step.variable] = choices[step.choice + position];
  }
  Assignment assignment;
  for (size_t unit = 0; unit < problem.units.size(); ++unit) {
    assignment.push_back(values_[unit][chosen[unit]]);
  }
  if (latency(problem, assignment) == kImpossible) assignment.clear();
  return assignment;
}

}  // namespace het::hetero
