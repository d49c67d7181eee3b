#include "hetero/planner/mix_program.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace het::hetero {
namespace {

/// Gains below this are rounding; work and times are about one.
constexpr double kTiny = 1e-11;
/// Ends are sure with exact numbers only.
constexpr int kMaxPivots = 10000;

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

MixProgram::MixProgram(size_t resources) : rows_(resources), values_(resources, 1.0) {
  for (size_t row = 0; row < rows_; ++row) {
    std::vector<double> unit(rows_, 0.0);
    unit[row] = 1;
    inverse_.push_back(unit);
    columns_.push_back({0.0, std::move(unit)});
    basis_.push_back(row);
    is_basic_.push_back(true);
  }
}

void MixProgram::add_plan(std::vector<double> work) {
  columns_.push_back({1.0, std::move(work)});
  is_basic_.push_back(false);
}

std::vector<double> MixProgram::dual() const {
  std::vector<double> prices(rows_, 0.0);
  for (size_t row = 0; row < rows_; ++row) {
    if (columns_[basis_[row]].gain == 0) continue;
    for (size_t i = 0; i < rows_; ++i) prices[i] += inverse_[row][i];
  }
  return prices;
}

/// Takes a column into the basis for the one that reaches zero first.
bool MixProgram::enter(size_t column) {
  std::vector<double> direction(rows_);
  for (size_t row = 0; row < rows_; ++row) {
    direction[row] = product(inverse_[row], columns_[column].work);
  }
  size_t leaving = rows_;
  for (size_t row = 0; row < rows_; ++row) {
    if (direction[row] <= kTiny) continue;
    if (leaving == rows_) {
      leaving = row;
      continue;
    }
    const double difference = values_[row] / direction[row] - values_[leaving] / direction[leaving];
    const bool is_first = difference == 0 && basis_[row] < basis_[leaving];
    if (difference < 0 || is_first) leaving = row;
  }
  if (leaving == rows_) return false;
  const double pivot = direction[leaving];
  for (double& entry : inverse_[leaving]) entry /= pivot;
  values_[leaving] /= pivot;
  for (size_t row = 0; row < rows_; ++row) {
    if (row == leaving || direction[row] == 0) continue;
    for (size_t i = 0; i < rows_; ++i) inverse_[row][i] -= direction[row] * inverse_[leaving][i];
    values_[row] = std::max(0.0, values_[row] - direction[row] * values_[leaving]);
  }
  is_basic_[basis_[leaving]] = false;
  is_basic_[column] = true;
  basis_[leaving] = column;
  return true;
}

void MixProgram::solve() {
  for (int pivots = 0; pivots < kMaxPivots; ++pivots) {
    const std::vector<double> prices = dual();
    size_t entering = 0;
    for (; entering < columns_.size(); ++entering) {
      const Column& column = columns_[entering];
      if (is_basic_[entering]) continue;
      if (column.gain - product(prices, column.work) > kTiny) break;
    }
    if (entering == columns_.size() || !enter(entering)) return;
  }
}

std::vector<double> MixProgram::rates() const {
  std::vector<double> rates(columns_.size() - rows_, 0.0);
  for (size_t row = 0; row < rows_; ++row) {
    if (basis_[row] >= rows_) rates[basis_[row] - rows_] = values_[row];
  }
  return rates;
}

double MixProgram::total() const {
  const std::vector<double> all = rates();
  return std::accumulate(all.begin(), all.end(), 0.0);
}

std::vector<double> MixProgram::prices() const {
  std::vector<double> prices = dual();
  for (double& price : prices) price = std::max(0.0, price);
  return prices;
}

}  // namespace het::hetero
