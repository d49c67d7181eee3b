#pragma once

#include <cstdint>

#include "hetero/planner/plan_problem.h"

namespace het::hetero {

/// The least latency of any number of devices, by bucket elimination (Dechter: Bucket elimination:
/// a unifying framework for reasoning, 1999). A variable is the device of a unit or, for a tensor
/// with several consumers, the set of places that get a copy: this way consumers depend on the set
/// alone and not on one another.
///
/// The order and the layout of all tables are found once and serve every problem with the same
/// units and tensors and times elsewhere. Reentrant once made.
class Elimination {
 public:
  /// 8 bytes each, all tables together.
  static constexpr size_t kMaxEntries = size_t{1} << 22;

  explicit Elimination(const PlanProblem& problem, size_t max_entries = kMaxEntries);

  /// False when the graph is too wide: its tables would have more than the allowed entries.
  bool fits() const { return fits_; }
  /// Entries of all tables, a measure of the work of solve().
  size_t entries() const { return entries_; }
  /// An assignment of least latency; empty where every placement is impossible. `problem` differs
  /// from the one given before in its times only, and units that were impossible on a device remain
  /// so. Needs fits().
  Assignment solve(const PlanProblem& problem) const;

 private:
  /// A function of at most two variables: what a part of the problem costs.
  struct Factor {
    enum class Kind { Unit, Pair, Copies, Contains };
    Kind kind;
    size_t tensor;                  // of all but Unit
    std::vector<size_t> variables;  // slowest first
    size_t table = 0;               // where its entries begin
    size_t size = 1;
  };
  /// A table that a step adds up: where it begins, and its strides for the step's variable and for
  /// those that the step leaves.
  struct Input {
    size_t table;
    size_t variable_stride;
    std::vector<size_t> strides;
  };
  struct Step {
    size_t variable;
    size_t values;              // of the variable
    std::vector<size_t> rest;   // variables of the step's result, slowest first
    std::vector<size_t> sizes;  // how many values they have
    std::vector<Input> inputs;
    size_t table = 0;   // of its result, least sums
    size_t choice = 0;  // of the values that give them
    size_t size = 1;
  };

  void add_tensor(const PlanProblem& problem, size_t tensor);
  void add_factor(Factor::Kind kind, size_t tensor, std::vector<size_t> variables);
  bool order_variables(size_t max_entries);
  void lay_out_tables();
  Input layout(size_t table, const std::vector<size_t>& variables, const Step& step) const;
  void fill_factor(const PlanProblem& problem, const Factor& factor, double* entries) const;
  double unit_seconds(const PlanProblem& problem, size_t unit, size_t device) const;
  static void run_step(const Step& step, std::vector<double>& tables,
                       std::vector<uint16_t>& choices, std::vector<double>& sums);

  std::vector<std::vector<uint32_t>> values_;  // of every variable: devices, or sets of places
  std::vector<std::vector<size_t>> unary_;     // of units: tensors that cost by its device alone
  std::vector<Factor> factors_;
  std::vector<Step> steps_;
  size_t table_size_ = 0;
  size_t choice_size_ = 0;
  size_t entries_ = 0;
  bool fits_ = false;
};

}  // namespace het::hetero
