#pragma once

#include <cstddef>
#include <vector>

namespace het::hetero {

/// The linear program of a mix of plans: rates of at least zero and of greatest sum, such that no
/// resource has more than one unit of work: sum over plans of rate * work <= 1. Columns come one by
/// one. Revised simplex with a dense inverse of the basis, for some tens of rows; entering and
/// leaving columns by Bland's rule (New finite pivoting rules for the simplex method, 1977), so it
/// ends.
class MixProgram {
 public:
  explicit MixProgram(size_t resources);

  /// `work` per resource for one unit of rate. Where none is above zero the rates have no limit,
  /// and solve() stops at some.
  void add_plan(std::vector<double> work);
  /// Makes the rates best for the plans so far.
  void solve();

  /// Of every plan.
  std::vector<double> rates() const;
  double total() const;
  /// What one unit of each resource is worth, at least zero. A plan pays where its work times
  /// these is below one.
  std::vector<double> prices() const;

 private:
  struct Column {
    double gain;  // of one unit of rate: one for plans, zero for the slack of a resource
    std::vector<double> work;
  };
  bool enter(size_t column);
  std::vector<double> dual() const;

  size_t rows_;
  std::vector<Column> columns_;  // slacks first
  std::vector<size_t> basis_;    // a column per row
  std::vector<bool> is_basic_;
  std::vector<double> values_;                // of the basis
  std::vector<std::vector<double>> inverse_;  // of the basis, by rows
};

}  // namespace het::hetero
