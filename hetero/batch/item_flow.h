#pragma once

#include <cstddef>
#include <vector>

#include "hetero/batch/items.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// How an output of a batched model is taken apart.
struct OutputCut {
  /// Batched: part i of dimension 0 is item i's. FixedRows, Rows: column 0 says a row's item.
  /// RowValues, RowCount: the rows of output `numbers` say it.
  ItemsKind kind = ItemsKind::Batched;
  size_t numbers = 0;

  bool is_by_rows() const { return kind != ItemsKind::Batched; }
};

/// Follows the items of a batch from dimension 0 of the inputs to the outputs, node by node and by
/// rules for each operator (rules/), and tells how outputs are taken apart. `single` and `batched`
/// are the same graph with inferred shapes, for one item and for `batch` of them. Fails with
/// NotSupported, naming the node or the output and the reason, where items would not be computed
/// one independently of the other, and where nobody knows whether they are.
Result<std::vector<OutputCut>> follow_items(const Model& single, const Model& batched,
                                            size_t batch);

}  // namespace het::hetero
