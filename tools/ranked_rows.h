#pragma once

#include <cstddef>
#include <vector>

#include "inference/tensors/shape.h"

namespace het {

/// One output beside its reference; both hold every value, in row-major order.
struct OutputValues {
  Shape shape;
  std::vector<double> actual;
  std::vector<double> expected;
};

/// Whether an output is a ranking: [K] or [1,K], never increasing.
bool is_ranking(const OutputValues& output);
/// Whether it has one row for each of `count` ranks.
bool has_rows_of(const OutputValues& output, size_t count);

/// Detectors that end in TopK return rows (labels, boxes, scores) ranked by score. Where the
/// reference's scores of neighbouring rows differ by less than 1e-5 of the largest score, which of
/// them comes first is a matter of rounding: puts such rows of `actual`, in all ranked outputs
/// together, into the reference's order. Does nothing when no output is a ranking.
void align_tied_rows(std::vector<OutputValues>& outputs);

}  // namespace het
