#include "inference/ops/sequences/dynamic_quantize_lstm.h"

#include <span>
#include <string_view>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/quantisation/quantization.h"
#include "inference/ops/sequences/recurrent_cells.h"

namespace het {
namespace {

using Input = QuantizedLstmInput;

constexpr size_t place(Input input) {
  return static_cast<size_t>(input);
}

/// One of W and R with the scale and the zero point that belong to it.
struct QuantizedWeights {
  Input values;
  std::string_view name;
  Input scale;
  Input zero_point;
  std::string_view scale_name;
  std::string_view zero_point_name;
};
constexpr QuantizedWeights kInputWeights{
    Input::W, "W", Input::WeightScale, Input::WeightZeroPoint, "W_scale", "W_zero_point"};
constexpr QuantizedWeights kRecurrence{
    Input::R, "R", Input::RecurrenceScale, Input::RecurrenceZeroPoint, "R_scale", "R_zero_point"};

Status check_weights(const InferContext& context, const QuantizedWeights& weights,
                     const RecurrentAttributes& lstm, int64_t columns) {
  const int64_t rows = 4 * lstm.hidden;
  HET_TRY(check_input_shape(context, place(weights.values), weights.name,
                            {lstm.directions(), columns, rows}));
  HET_TRY(check_input(context, place(weights.scale), weights.scale_name, {ElementType::Float32}));
  HET_TRY(check_input(context, place(weights.zero_point), weights.zero_point_name,
                      {context.type(place(weights.values))}));
  const Shape& scale = context.shape(place(weights.scale));
  if (scale != Shape{lstm.directions()} && scale != Shape{lstm.directions(), rows}) {
    return error(StatusCode::ShapeMismatch, "{} has shape {}, but must have {} or {}",
                 weights.scale_name, to_string(scale), to_string(Shape{lstm.directions()}),
                 to_string(Shape{lstm.directions(), rows}));
  }
  return check_input_shape(context, place(weights.zero_point), weights.zero_point_name, scale);
}

Status infer_dynamic_quantize_lstm(InferContext& context) {
  HET_TRY(check_input(context, place(Input::X), "X", {ElementType::Float32}));
  HET_TRY(check_input(context, place(Input::W), "W", kByteTypes));
  HET_TRY(check_input(context, place(Input::R), "R", kByteTypes));
  HET_TRY(check_rank(context, place(Input::R), "R", 3, 3));
  HET_ASSIGN(const RecurrentAttributes lstm,
             recurrent_attributes(context.node(), context.shape(place(Input::X)),
                                  lstm_recurrence_shape(context.shape(place(Input::R)))));
  HET_TRY(check_weights(context, kInputWeights, lstm, lstm.input));
  HET_TRY(check_weights(context, kRecurrence, lstm, lstm.hidden));
  return infer_cells(context, lstm);
}

Result<std::vector<double>> real_weights(const EvaluateContext& context,
                                         const QuantizedWeights& weights) {
  HET_ASSIGN(const std::vector<float> values,
             lstm_weights(context.input(place(weights.values)), context.input(place(weights.scale)),
                          context.input(place(weights.zero_point))));
  return std::vector<double>(values.begin(), values.end());
}

/// An LSTM whose products are of 8-bit numbers: the weights' and those that x and the states are
/// rounded to. ONNX Runtime rounds the states of a batch together, as far as one thread has them;
/// here they are rounded item by item, so that items do not change each other's results.
Status evaluate_dynamic_quantize_lstm(EvaluateContext& context) {
  HET_ASSIGN(const RecurrentAttributes lstm,
             recurrent_attributes(context.node(), context.input(place(Input::X)).shape(),
                                  lstm_recurrence_shape(context.input(place(Input::R)).shape())));
  HET_ASSIGN(RecurrentValues values, read_cell_values(context, lstm));
  HET_ASSIGN(values.w, real_weights(context, kInputWeights));
  HET_ASSIGN(values.r, real_weights(context, kRecurrence));
  values.quantises = true;
  return evaluate_cells(context, lstm, std::move(values));
}

}  // namespace

Shape lstm_recurrence_shape(const Shape& r) {
  return r.size() == 3 ? Shape{r[0], r[2], r[1]} : r;
}

Result<std::vector<float>> lstm_weights(const Tensor& weights, const Tensor& scale,
                                        const Tensor& zero_point) {
  const Shape& shape = weights.shape();
  HET_ASSIGN(const std::vector<double> stored, to_double_vector(weights));
  HET_ASSIGN(const std::vector<double> zeros, to_double_vector(zero_point));
  const std::span<const float> scales = scale.values<float>();
  std::vector<float> real(stored.size());
  for (int64_t d = 0; d < shape[0]; ++d) {
    for (int64_t k = 0; k < shape[1]; ++k) {
      for (int64_t g = 0; g < shape[2]; ++g) {
        const auto from = static_cast<size_t>((d * shape[1] + k) * shape[2] + g);
        const auto to = static_cast<size_t>((d * shape[2] + g) * shape[1] + k);
        const auto grid = static_cast<size_t>(scale.shape().size() == 2 ? d * shape[2] + g : d);
        real[to] = static_cast<float>(stored[from] - zeros[grid]) * scales[grid];
      }
    }
  }
  return real;
}

HET_REGISTRATION void register_dynamic_quantize_lstm(OpRegistry& registry) {
  registry.add({"DynamicQuantizeLSTM", "com.microsoft", 1, 3, 12, infer_dynamic_quantize_lstm,
                evaluate_dynamic_quantize_lstm});
}

}  // namespace het
