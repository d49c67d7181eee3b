#pragma once

#include <cstddef>
#include <cstdint>

namespace het::hetero {

/// Where the items of a batch lie in a value: dimension `dim` has `outer` x batch x `inner`
/// elements, so that a value whose batch was joined with its neighbours can be followed too. The
/// term is that of vmap (github.com/jax-ml/jax): the batch dimension of a value.
struct BatchAxis {
  size_t dim = 0;
  int64_t outer = 1;
  int64_t inner = 1;

  bool operator==(const BatchAxis&) const = default;
};

/// What a value of a model holds when each of its inputs holds a batch of items.
enum class ItemsKind : uint8_t {
  Shared,     ///< the same whatever the items are, and however many
  Sizes,      ///< follows from shapes, but changes with the size of the batch
  Batched,    ///< one part per item, along `axis`
  Places,     ///< one part per item, along `axis`, of places among the elements of all items
  FixedRows,  ///< rows of all items; column 0 says the item, a negative one ends them
  Rows,       ///< [rows, columns] of all items; column 0 says the item
  RowValues,  ///< one part per row, in the order of the rows; the item is not said
  RowOrder,   ///< [rows]: numbers of rows, which put them into another order
  RowCount,   ///< one number: how many rows there are
};

struct Items {
  ItemsKind kind = ItemsKind::Shared;
  BatchAxis axis = {};  ///< Batched, Places
  int64_t places = 0;   ///< Places: elements of one item, among which they count
  size_t table =
      0;  ///< of the last five kinds: whose rows; equal numbers, equal rows in equal order
  size_t next_table = 0;  ///< RowOrder: the table whose rows come in that order
  /// Rows, RowValues: dimensions, which shapes do not tell before run time. RowCount: numbers in
  /// the list, the first of which counts.
  size_t rank = 0;
  size_t columns = 0;  ///< Rows: how many; 0 when that is not known

  static Items batched(BatchAxis axis) { return {ItemsKind::Batched, axis}; }
  bool is_batched() const { return kind == ItemsKind::Batched; }
  bool is_shared() const { return kind == ItemsKind::Shared; }
  bool is_of_rows() const { return kind >= ItemsKind::FixedRows; }
};

}  // namespace het::hetero
