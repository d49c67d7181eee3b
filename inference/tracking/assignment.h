#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace het::tracking {

/// The cost of a pair that may not be.
inline constexpr float kForbidden = std::numeric_limits<float>::infinity();

/// Costs of pairing rows with columns, row by row; at least 0, finite or kForbidden.
struct CostMatrix {
  CostMatrix(size_t row_count, size_t column_count)
      : rows(row_count), columns(column_count), values(row_count * column_count, kForbidden) {}
  float& at(size_t row, size_t column) { return values[row * columns + column]; }
  float at(size_t row, size_t column) const { return values[row * columns + column]; }

  size_t rows;
  size_t columns;
  std::vector<float> values;
  /// What a row costs that gets no column; none: as many pairs as possible are wanted.
  std::optional<float> leaving = std::nullopt;
};

inline constexpr size_t kNoColumn = static_cast<size_t>(-1);

/// The column of each row, or kNoColumn: as many allowed pairs as possible, and among these
/// assignments one of least total cost; with `leaving` the least cost of pairs and left rows
/// together. Exact: shortest augmenting paths with dual variables (R. Jonker, A. Volgenant, "A
/// shortest augmenting path algorithm for dense and sparse linear assignment problems", Computing
/// 38, 1987). Rows and columns that no chain of allowed pairs joins are solved apart; a part of n
/// rows and m columns takes O(min(n,m)^2 max(n,m)).
std::vector<size_t> assign(const CostMatrix& costs);

}  // namespace het::tracking
