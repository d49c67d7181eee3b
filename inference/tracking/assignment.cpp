#include "inference/tracking/assignment.h"

#include <algorithm>
#include <numeric>

namespace het::tracking {
namespace {

/// Rows and columns that chains of allowed pairs join.
struct Part {
  std::vector<size_t> rows;
  std::vector<size_t> columns;
};

size_t root_of(std::vector<size_t>& parents, size_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

std::vector<Part> parts_of(const CostMatrix& costs) {
  std::vector<size_t> parents(costs.rows + costs.columns);
  std::iota(parents.begin(), parents.end(), size_t{0});
  for (size_t row = 0; row < costs.rows; ++row) {
    for (size_t column = 0; column < costs.columns; ++column) {
      if (costs.at(row, column) == kForbidden) continue;
      parents[root_of(parents, row)] = root_of(parents, costs.rows + column);
    }
  }
  std::vector<Part> by_root(parents.size());
  for (size_t row = 0; row < costs.rows; ++row) by_root[root_of(parents, row)].rows.push_back(row);
  for (size_t column = 0; column < costs.columns; ++column)
    by_root[root_of(parents, costs.rows + column)].columns.push_back(column);
  std::erase_if(by_root,
                [](const Part& part) { return part.rows.empty() || part.columns.empty(); });
  return by_root;
}

/// Costs of one part with no more rows than columns; a forbidden pair costs more than all allowed
/// ones together, so it is only taken where nothing else is left. Where rows may be left, each has
/// a column of its own for that, behind the others.
class Problem {
 public:
  Problem(const CostMatrix& costs, const Part& part)
      : costs_(costs), part_(part), transposed_(part.rows.size() > part.columns.size()) {
    for (size_t row : part.rows) {
      for (size_t column : part.columns) {
        const float cost = costs.at(row, column);
        if (cost != kForbidden) forbidden_ += static_cast<double>(cost);
      }
    }
  }

  size_t rows() const { return std::min(part_.rows.size(), part_.columns.size()); }
  size_t columns() const { return real_columns() + (costs_.leaving ? rows() : 0); }
  double cost(size_t row, size_t column) const {
    if (column >= real_columns()) {
      return column - real_columns() == row ? static_cast<double>(*costs_.leaving) : forbidden_;
    }
    const float value = original(row, column);
    return value == kForbidden ? forbidden_ : static_cast<double>(value);
  }
  /// Writes the pair down unless it is forbidden.
  void take(size_t row, size_t column, std::vector<size_t>& column_of_row) const {
    if (column >= real_columns() || original(row, column) == kForbidden) return;
    if (transposed_) std::swap(row, column);
    column_of_row[part_.rows[row]] = part_.columns[column];
  }

 private:
  size_t real_columns() const { return std::max(part_.rows.size(), part_.columns.size()); }
  float original(size_t row, size_t column) const {
    if (transposed_) std::swap(row, column);
    return costs_.at(part_.rows[row], part_.columns[column]);
  }

  const CostMatrix& costs_;
  const Part& part_;
  bool transposed_;
  double forbidden_ = 1.0;
};

/// Gives every row a column, one row after the other: each by the cheapest path of exchanges that
/// ends at a free column. Reduced costs cost(r,c) - row_price[r] - column_price[c] never become
/// negative.
class Solver {
 public:
  explicit Solver(const Problem& problem)
      : problem_(problem),
        row_price_(problem.rows(), 0.0),
        column_price_(problem.columns(), 0.0),
        row_of_column_(problem.columns(), kNoColumn) {}

  void solve(std::vector<size_t>& column_of_row) {
    for (size_t row = 0; row < problem_.rows(); ++row) place(row);
    for (size_t column = 0; column < problem_.columns(); ++column) {
      if (row_of_column_[column] != kNoColumn)
        problem_.take(row_of_column_[column], column, column_of_row);
    }
  }

 private:
  void place(size_t start) {
    const size_t count = problem_.columns();
    std::vector<double> distance(count, std::numeric_limits<double>::infinity());
    std::vector<size_t> from(count, kNoColumn);  ///< the column before on the path; none: `start`
    std::vector<bool> done(count, false);
    size_t row = start;
    size_t last = kNoColumn;
    double length = 0.0;
    while (true) {
      size_t nearest = kNoColumn;
      for (size_t column = 0; column < count; ++column) {
        if (done[column]) continue;
        const double through =
            length + problem_.cost(row, column) - row_price_[row] - column_price_[column];
        if (through < distance[column]) {
          distance[column] = through;
          from[column] = last;
        }
        if (nearest == kNoColumn || distance[column] < distance[nearest]) nearest = column;
      }
      length = distance[nearest];
      done[nearest] = true;
      last = nearest;
      if (row_of_column_[nearest] == kNoColumn) break;
      row = row_of_column_[nearest];
    }
    row_price_[start] += length;
    for (size_t column = 0; column < count; ++column) {
      if (!done[column] || column == last) continue;
      row_price_[row_of_column_[column]] += length - distance[column];
      column_price_[column] -= length - distance[column];
    }
    while (from[last] != kNoColumn) {
      row_of_column_[last] = row_of_column_[from[last]];
      last = from[last];
    }
    row_of_column_[last] = start;
  }

  const Problem& problem_;
  std::vector<double> row_price_;
  std::vector<double> column_price_;
  std::vector<size_t> row_of_column_;
};

}  // namespace

std::vector<size_t> assign(const CostMatrix& costs) {
  std::vector<size_t> column_of_row(costs.rows, kNoColumn);
  for (const Part& part : parts_of(costs)) Solver(Problem(costs, part)).solve(column_of_row);
  return column_of_row;
}

}  // namespace het::tracking
