#pragma once

#include <cstddef>
#include <vector>

#include "hetero/batch/item_flow.h"
#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {

/// To which item each row of a table belongs, as column 0 says.
class RowItems {
 public:
  /// `rows` is [..., columns] in dense host memory; with `has_end`, a negative number ends the
  /// rows. Fails with Internal, naming the row, where a number is none of an item of the batch.
  Status read(const Tensor& rows, bool has_end, size_t batch);
  size_t count(size_t item) const { return counts_[item]; }
  const std::vector<size_t>& items() const { return items_; }

 private:
  std::vector<size_t> items_;   ///< of each row
  std::vector<size_t> counts_;  ///< of each item
};

/// What one item gets of an output of the batch, as a model of one item gives it: its rows with
/// number 0 in their order. `rows` were read from the output that says them. FixedRows: written to
/// `part`, which has the desc for one item; zeros follow behind an end of -1. Others: `part`
/// becomes a tensor of its own.
Status take_rows(const Tensor& all, const OutputCut& cut, const RowItems& rows, size_t item,
                 Tensor& part);

}  // namespace het::hetero
