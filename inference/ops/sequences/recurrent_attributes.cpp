#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string>

#include "inference/ops/op_checks.h"
#include "inference/ops/sequences/recurrent.h"

namespace het {

double RecurrentActivation::operator()(double x) const {
  switch (function) {
    case RecurrentFunction::Relu:
      return std::max(x, 0.0);
    case RecurrentFunction::Tanh:
      return std::tanh(x);
    case RecurrentFunction::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case RecurrentFunction::Affine:
      return alpha * x + beta;
    case RecurrentFunction::LeakyRelu:
      return x >= 0 ? x : alpha * x;
    case RecurrentFunction::ThresholdedRelu:
      return x >= alpha ? x : 0;
    case RecurrentFunction::ScaledTanh:
      return alpha * std::tanh(beta * x);
    case RecurrentFunction::HardSigmoid:
      return std::clamp(alpha * x + beta, 0.0, 1.0);
    case RecurrentFunction::Elu:
      return x >= 0 ? x : alpha * std::expm1(x);
    case RecurrentFunction::Softsign:
      return x / (1 + std::fabs(x));
    case RecurrentFunction::Softplus:
      // log(1 + e^x) without overflow.
      return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

namespace {

/// Defaults of alpha and beta: those of the operators of the same name.
struct FunctionRow {
  std::string_view name;  ///< in lower case
  RecurrentFunction function;
  bool has_alpha;
  bool has_beta;
  double alpha;
  double beta;
};

constexpr std::array kFunctions{
    FunctionRow{"relu", RecurrentFunction::Relu, false, false, 0, 0},
    FunctionRow{"tanh", RecurrentFunction::Tanh, false, false, 0, 0},
    FunctionRow{"sigmoid", RecurrentFunction::Sigmoid, false, false, 0, 0},
    FunctionRow{"affine", RecurrentFunction::Affine, true, true, 1, 0},
    FunctionRow{"leakyrelu", RecurrentFunction::LeakyRelu, true, false, 0.01, 0},
    FunctionRow{"thresholdedrelu", RecurrentFunction::ThresholdedRelu, true, false, 1, 0},
    FunctionRow{"scaledtanh", RecurrentFunction::ScaledTanh, true, true, 1, 1},
    FunctionRow{"hardsigmoid", RecurrentFunction::HardSigmoid, true, true, 0.2, 0.5},
    FunctionRow{"elu", RecurrentFunction::Elu, true, false, 1, 0},
    FunctionRow{"softsign", RecurrentFunction::Softsign, false, false, 0, 0},
    FunctionRow{"softplus", RecurrentFunction::Softplus, false, false, 0, 0},
};

Result<FunctionRow> find_function(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const FunctionRow& row : kFunctions) {
    if (row.name == lower) return row;
  }
  return error(StatusCode::NotSupported,
               "activation '{}' is unknown; known are Relu, Tanh, Sigmoid, Affine, LeakyRelu, "
               "ThresholdedRelu, ScaledTanh, HardSigmoid, Elu, Softsign and Softplus",
               name);
}

/// activation_alpha and activation_beta hold values for those functions only that take them.
Result<std::vector<RecurrentActivation>> read_activations(const Attributes& attributes,
                                                          std::vector<std::string> defaults,
                                                          size_t directions) {
  std::vector<std::string> names = attributes.get_strings("activations");
  const size_t wanted = defaults.size() * directions;
  if (names.empty()) {
    for (size_t i = 0; i < wanted; ++i) names.push_back(defaults[i % defaults.size()]);
  }
  if (names.size() != wanted) {
    return error(StatusCode::InvalidArgument,
                 "{} activations are given, but must be {}: {} for each direction", names.size(),
                 wanted, defaults.size());
  }
  const std::vector<float> alphas = attributes.get_floats("activation_alpha");
  const std::vector<float> betas = attributes.get_floats("activation_beta");
  size_t alpha_at = 0;
  size_t beta_at = 0;
  std::vector<RecurrentActivation> activations;
  for (const std::string& name : names) {
    HET_ASSIGN(const FunctionRow row, find_function(name));
    RecurrentActivation activation{row.function, row.alpha, row.beta};
    if (row.has_alpha && alpha_at < alphas.size()) {
      activation.alpha = static_cast<double>(alphas[alpha_at++]);
    }
    if (row.has_beta && beta_at < betas.size()) {
      activation.beta = static_cast<double>(betas[beta_at++]);
    }
    activations.push_back(activation);
  }
  return activations;
}

Result<std::vector<bool>> read_directions(const Attributes& attributes) {
  const std::string direction = attributes.get_string("direction", "forward");
  if (direction == "forward") return std::vector<bool>{false};
  if (direction == "reverse") return std::vector<bool>{true};
  if (direction == "bidirectional") return std::vector<bool>{false, true};
  return error(StatusCode::InvalidArgument,
               "direction is '{}', but must be forward, reverse or bidirectional", direction);
}

}  // namespace

Result<RecurrentAttributes> recurrent_attributes(const Node& node, const Shape& x, const Shape& r) {
  const Attributes& attributes = node.attributes();
  HET_TRY(check_attributes(attributes, {{"activation_alpha", AttributeType::Floats},
                                        {"activation_beta", AttributeType::Floats},
                                        {"activations", AttributeType::Strings},
                                        {"clip", AttributeType::Float},
                                        {"direction", AttributeType::String},
                                        {"hidden_size", AttributeType::Int},
                                        {"input_forget", AttributeType::Int},
                                        {"layout", AttributeType::Int},
                                        {"linear_before_reset", AttributeType::Int}}));
  if (x.size() != 3 || r.size() != 3) {
    return error(StatusCode::ShapeMismatch, "X has shape {} and R {}, but both must have rank 3",
                 to_string(x), to_string(r));
  }
  RecurrentAttributes recurrent;
  std::vector<std::string> defaults{"Tanh"};
  if (node.op_type() == "LSTM" || node.op_type() == "DynamicQuantizeLSTM") {
    recurrent.kind = RecurrentKind::Lstm;
    recurrent.gates = 4;
    defaults = {"Sigmoid", "Tanh", "Tanh"};
  } else if (node.op_type() == "GRU") {
    recurrent.kind = RecurrentKind::Gru;
    recurrent.gates = 3;
    defaults = {"Sigmoid", "Tanh"};
  }
  recurrent.functions = static_cast<int64_t>(defaults.size());
  HET_ASSIGN(recurrent.reversed, read_directions(attributes));
  HET_ASSIGN(recurrent.activations,
             read_activations(attributes, defaults, recurrent.reversed.size()));

  const int64_t layout = attributes.get_int("layout", 0);
  if (layout != 0 && layout != 1) {
    return error(StatusCode::InvalidArgument, "layout is {}, but must be 0 or 1", layout);
  }
  recurrent.batch_first = layout == 1;
  recurrent.sequence = x[recurrent.batch_first ? 1 : 0];
  recurrent.batch = x[recurrent.batch_first ? 0 : 1];
  recurrent.input = x[2];
  recurrent.hidden = attributes.get_int("hidden_size", r[2]);
  if (recurrent.hidden != r[2] || recurrent.hidden > INT32_MAX) {
    return error(StatusCode::ShapeMismatch,
                 "hidden_size is {}, but R has shape {}; its last dimension must be hidden_size",
                 recurrent.hidden, to_string(r));
  }
  if (const auto* clip = attributes.find("clip"); clip != nullptr) {
    recurrent.clip = static_cast<double>(std::get<float>(*clip));
    if (!(recurrent.clip >= 0)) {
      return error(StatusCode::InvalidArgument, "clip is {}, but must not be negative",
                   recurrent.clip);
    }
    // 0 is how OpenVINO's cells say "no clip".
    if (recurrent.clip == 0) recurrent.clip = std::numeric_limits<double>::infinity();
  }
  recurrent.input_forget = attributes.get_int("input_forget", 0) != 0;
  recurrent.linear_before_reset = attributes.get_int("linear_before_reset", 0) != 0;

  const int64_t directions = recurrent.directions();
  if (recurrent.batch_first) {
    recurrent.output_shape = {recurrent.batch, recurrent.sequence, directions, recurrent.hidden};
    recurrent.state_shape = {recurrent.batch, directions, recurrent.hidden};
  } else {
    recurrent.output_shape = {recurrent.sequence, directions, recurrent.batch, recurrent.hidden};
    recurrent.state_shape = {directions, recurrent.batch, recurrent.hidden};
  }
  HET_TRY(checked_element_count(recurrent.output_shape));
  HET_TRY(checked_element_count(recurrent.state_shape));
  return recurrent;
}

}  // namespace het
