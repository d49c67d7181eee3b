#pragma once

#include <cstddef>
#include <vector>

#include "inference/base/status.h"
#include "inference/ops/sequences/recurrent.h"
#include "inference/tensors/tensor.h"

namespace het {

/// Inputs of com.microsoft.DynamicQuantizeLSTM; 3 to 7 are those of ONNX' LSTM.
enum class QuantizedLstmInput : size_t {
  X = 0,
  W = 1,                ///< int8 or uint8 [directions, input, 4 * hidden]
  R = 2,                ///< int8 or uint8 [directions, hidden, 4 * hidden]
  WeightScale = 8,      ///< [directions] or [directions, 4 * hidden]
  WeightZeroPoint = 9,  ///< as the scale, of W's type
  RecurrenceScale = 10,
  RecurrenceZeroPoint = 11,
};

/// The shape of R as ONNX' LSTM has it, [directions, 4 * hidden, hidden].
Shape lstm_recurrence_shape(const Shape& r);

/// Weights [directions, columns, 4 * hidden] as real numbers in the order of ONNX' LSTM,
/// [directions, 4 * hidden, columns].
Result<std::vector<float>> lstm_weights(const Tensor& weights, const Tensor& scale,
                                        const Tensor& zero_point);

}  // namespace het
