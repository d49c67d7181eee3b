#include <algorithm>

#include "inference/readers/openvino_ir/translate.h"

/// LSTM, GRU and RNN, cells and sequences. OpenVINO puts the batch first, keeps one bias instead of
/// two, and orders an LSTM's gates f, i, c, o where ONNX has i, o, f, c.
namespace het::ir {
namespace {

/// Sizes of a recurrent layer, and ONNX' operator.
struct Recurrent {
  std::string op_type;
  int64_t hidden = 0;
  int64_t directions = 1;
  bool has_cell_state = false;
  bool linear_before_reset = false;
  Attributes attributes;
};

/// "sigmoid" -> "Sigmoid"
std::string capitalized(std::string name) {
  if (name == "hardsigmoid" || name == "hard_sigmoid") return "HardSigmoid";
  if (!name.empty() && name[0] >= 'a' && name[0] <= 'z') name[0] = static_cast<char>(name[0] - 32);
  return name;
}

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> found;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::string word(text.substr(0, comma));
    std::erase(word, ' ');
    if (!word.empty()) found.push_back(capitalized(std::move(word)));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return found;
}

Recurrent read_recurrent(LayerContext& context) {
  Recurrent layer;
  layer.op_type =
      std::string(context.layer().type.substr(0, context.layer().type.find_first_of("CS")));
  if (context.layer().type.substr(0, 4) == "LSTM") layer.op_type = "LSTM";
  layer.has_cell_state = layer.op_type == "LSTM";
  layer.hidden = context.integer("hidden_size", 0);
  if (layer.hidden < 1 || layer.hidden > 1 << 20) {
    context.fail(Status(StatusCode::ParseError,
                        fmt::format("hidden_size is {}, allowed are 1 to 1048576", layer.hidden)));
    layer.hidden = 1;
  }
  const std::string direction = context.text("direction", "forward");
  layer.directions = direction == "bidirectional" ? 2 : 1;
  layer.linear_before_reset = context.flag("linear_before_reset", false);
  layer.attributes.set("hidden_size", layer.hidden);
  layer.attributes.set("direction", direction);
  if (layer.op_type == "GRU") {
    layer.attributes.set("linear_before_reset", int64_t{layer.linear_before_reset});
  }
  if (const float clip = context.real("clip", 0.0f); clip > 0.0f && clip < 3e38f) {
    layer.attributes.set("clip", clip);
  }
  std::vector<std::string> activations = words(context.text("activations", ""));
  for (const auto& [own, onnx] : {std::pair("activations_alpha", "activation_alpha"),
                                  std::pair("activations_beta", "activation_beta")}) {
    std::vector<float> values = context.reals(own);
    const std::vector<float> once = values;
    if (layer.directions == 2) values.insert(values.end(), once.begin(), once.end());
    if (!values.empty()) layer.attributes.set(onnx, std::move(values));
  }
  if (!activations.empty()) {
    const std::vector<std::string> once = activations;
    if (layer.directions == 2) activations.insert(activations.end(), once.begin(), once.end());
    layer.attributes.set("activations", std::move(activations));
  }
  return layer;
}

/// Gates along dimension 1 in ONNX' order.
Value* ordered_gates(LayerContext& context, const Recurrent& layer, Value* value) {
  if (!layer.has_cell_state) return value;
  Attributes attributes = with("axis", int64_t{1});
  attributes.set("num_outputs", int64_t{4});
  const std::vector<Value*> gates = context.add_many("Split", {value}, 4, std::move(attributes));
  return context.add("Concat", {gates[1], gates[3], gates[0], gates[2]}, with("axis", int64_t{1}));
}

/// ONNX adds a bias of the input and one of the state; OpenVINO has their sum, except for the
/// hidden gate of a GRU with linear_before_reset, whose two parts come last.
Value* doubled_bias(LayerContext& context, const Recurrent& layer, Value* bias) {
  const auto zeros = [&](int64_t gates) {
    const auto count = static_cast<size_t>(layer.directions * gates * layer.hidden);
    return context.constant("zeros", Tensor::from<float>({layer.directions, gates * layer.hidden},
                                                         std::vector<float>(count, 0.0f)));
  };
  if (layer.linear_before_reset) {
    Value* const sizes = context.integers_constant("gates", {3 * layer.hidden, layer.hidden});
    const std::vector<Value*> parts =
        context.add_many("Split", {bias, sizes}, 2, with("axis", int64_t{1}));
    return context.add("Concat", {parts[0], zeros(2), parts[1]}, with("axis", int64_t{1}));
  }
  const int64_t gates = layer.op_type == "LSTM" ? 4 : layer.op_type == "GRU" ? 3 : 1;
  return context.add("Concat", {ordered_gates(context, layer, bias), zeros(gates)},
                     with("axis", int64_t{1}));
}

/// Sequences: X [batch, time, input], states [batch, directions, hidden], W [directions, ...].
void sequence(LayerContext& context) {
  Recurrent layer = read_recurrent(context);
  const size_t states = layer.has_cell_state ? 2 : 1;
  const size_t weights = 2 + states;  // X, states, lengths, W, R, B
  if (context.input_count() < weights + 3) {
    return context.fail(
        Status(StatusCode::ParseError,
               fmt::format("it has {} inputs, but needs {}", context.input_count(), weights + 3)));
  }
  const auto time_first = [&](size_t index) {
    return context.transposed(context.input(index), {1, 0, 2});
  };
  Value* const lengths = context.cast(context.input(1 + states), ElementType::Int32);
  std::vector<Value*> inputs{time_first(0),
                             ordered_gates(context, layer, context.input(weights)),
                             ordered_gates(context, layer, context.input(weights + 1)),
                             doubled_bias(context, layer, context.input(weights + 2)),
                             lengths,
                             time_first(1)};
  if (layer.has_cell_state) inputs.push_back(time_first(2));
  const std::vector<Value*> found =
      context.add_many(layer.op_type, std::move(inputs), 1 + states, std::move(layer.attributes));
  // Y is [time, directions, batch, hidden].
  context.finish_output(0, "Transpose", {found[0]}, with("perm", std::vector<int64_t>{2, 1, 0, 3}));
  for (size_t i = 1; i <= states; ++i) {
    context.finish_output(i, "Transpose", {found[i]}, with("perm", std::vector<int64_t>{1, 0, 2}));
  }
}

/// Cells: a sequence of one step and one direction. X [batch, input], states [batch, hidden].
void cell(LayerContext& context) {
  Recurrent layer = read_recurrent(context);
  const size_t states = layer.has_cell_state ? 2 : 1;
  const size_t weights = 1 + states;  // X, states, W, R, B
  if (context.input_count() < weights + 2) {
    return context.fail(
        Status(StatusCode::ParseError,
               fmt::format("it has {} inputs, but needs {}", context.input_count(), weights + 2)));
  }
  if (context.flag("input_forget", false)) {
    return context.refuse("LSTMCell with input_forget is not supported");
  }
  if (const std::string format = context.text("weights_format", "fico"); format != "fico") {
    return context.refuse(fmt::format("LSTMCell with weights_format {} is not supported", format));
  }
  const auto stacked = [&](size_t index) { return context.unsqueezed(context.input(index), {0}); };
  Value* const bias =
      context.has_input(weights + 2) ? doubled_bias(context, layer, stacked(weights + 2)) : nullptr;
  std::vector<Value*> inputs{stacked(0),
                             ordered_gates(context, layer, stacked(weights)),
                             ordered_gates(context, layer, stacked(weights + 1)),
                             bias,
                             nullptr,
                             stacked(1)};
  if (layer.has_cell_state) inputs.push_back(stacked(2));
  const std::vector<Value*> found =
      context.add_many(layer.op_type, std::move(inputs), 1 + states, std::move(layer.attributes));
  for (size_t i = 0; i < states; ++i) {
    context.finish_output(i, "Squeeze", {found[i + 1], context.integers_constant("first", {0})});
  }
}

constexpr Translation kRecurrentTable[] = {
    {"LSTMCell", cell},         {"GRUCell", cell},         {"RNNCell", cell},
    {"LSTMSequence", sequence}, {"GRUSequence", sequence}, {"RNNSequence", sequence},
};

}  // namespace

std::span<const Translation> recurrent_translations() {
  return kRecurrentTable;
}

}  // namespace het::ir
