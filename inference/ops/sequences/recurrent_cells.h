#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/ops/op.h"
#include "inference/ops/sequences/recurrent.h"

namespace het {

/// The inputs of LSTM, GRU and RNN as ONNX has them, in double.
struct RecurrentValues {
  std::vector<double> x;
  std::vector<double> w;         ///< [directions, gates * hidden, input]
  std::vector<double> r;         ///< [directions, gates * hidden, hidden]
  std::vector<double> b;         ///< [directions, 2 * gates * hidden], or empty: zeros
  std::vector<double> h;         ///< state_shape
  std::vector<double> c;         ///< state_shape
  std::vector<double> p;         ///< [directions, 3 * hidden], or empty: zeros
  std::vector<int64_t> lengths;  ///< of each item, 0 to sequence
  /// LSTM: x (all of it) and the state before every step (item by item) become 8-bit numbers and
  /// back on their way into the products, by DynamicQuantizeLinear's scale.
  bool quantises = false;
};

/// Computed in double. A reverse direction starts at the last step of each sequence; outputs beyond
/// a sequence's length are 0. Order: direction, batch, step, then hidden unit.
Status evaluate_cells(EvaluateContext& context, const RecurrentAttributes& recurrent,
                      RecurrentValues values);

/// Checks B, sequence_lens, initial_h, initial_c and P, the inputs 3 to 7, and sets the outputs.
Status infer_cells(InferContext& context, const RecurrentAttributes& recurrent);

/// X and the inputs 3 to 7; w and r stay empty. Omitted ones stay empty, except the states (zeros)
/// and the lengths (the whole sequence). Fails on lengths out of range.
Result<RecurrentValues> read_cell_values(const EvaluateContext& context,
                                         const RecurrentAttributes& recurrent);

}  // namespace het
