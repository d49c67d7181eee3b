#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/tensors/shape.h"

namespace het {

enum class RecurrentKind { Rnn, Gru, Lstm };

/// Activation functions of LSTM, GRU and RNN; formulas: ONNX' operator page of LSTM.
enum class RecurrentFunction {
  Relu,
  Tanh,
  Sigmoid,
  Affine,
  LeakyRelu,
  ThresholdedRelu,
  ScaledTanh,
  HardSigmoid,
  Elu,
  Softsign,
  Softplus,
};

struct RecurrentActivation {
  RecurrentFunction function = RecurrentFunction::Tanh;
  double alpha = 0;
  double beta = 0;

  double operator()(double x) const;
};

/// LSTM (also DynamicQuantizeLSTM), GRU and RNN with everything resolved and checked. Gates follow
/// each other in the rows of W and R in ONNX' order: i o f c (LSTM), z r h (GRU), i (RNN).
struct RecurrentAttributes {
  RecurrentKind kind = RecurrentKind::Rnn;
  int64_t gates = 1;                             ///< 4, 3 or 1
  int64_t functions = 1;                         ///< activations per direction: 3, 2 or 1
  std::vector<bool> reversed;                    ///< one entry per direction
  std::vector<RecurrentActivation> activations;  ///< direction after direction
  int64_t sequence = 0;
  int64_t batch = 0;
  int64_t input = 0;
  int64_t hidden = 0;
  bool batch_first = false;  ///< layout = 1
  double clip = std::numeric_limits<double>::infinity();
  bool input_forget = false;         ///< LSTM: the forget gate is 1 - input gate
  bool linear_before_reset = false;  ///< GRU
  Shape output_shape;                ///< Y: [sequence, directions, batch, hidden], or batch_first
  Shape state_shape;                 ///< Y_h and Y_c: [directions, batch, hidden], or batch_first

  int64_t directions() const { return static_cast<int64_t>(reversed.size()); }
};

/// `x` is the input, `r` the recurrence weights, both static. Fails on attributes out of range, on
/// unknown activations and on shapes that do not fit; W and the other inputs are not looked at.
Result<RecurrentAttributes> recurrent_attributes(const Node& node, const Shape& x, const Shape& r);

}  // namespace het
