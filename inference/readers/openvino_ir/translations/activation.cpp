#include <utility>

#include "inference/readers/openvino_ir/translate.h"

/// Activation functions.
namespace het::ir {
namespace {

constexpr std::pair<std::string_view, const char*> kPlain[] = {
    {"ReLU", "Relu"}, {"Sigmoid", "Sigmoid"},   {"Tanh", "Tanh"},         {"HSwish", "HardSwish"},
    {"Mish", "Mish"}, {"SoftPlus", "Softplus"}, {"SoftSign", "Softsign"},
};

void plain(LayerContext& context) {
  for (const auto& [type, onnx] : kPlain) {
    if (type == context.layer().type) return context.finish(onnx, {context.input(0)});
  }
}

/// A slope of one dimension belongs to the channels (dimension 1) where it has as many values,
/// others follow NumPy's rules.
void prelu(LayerContext& context) {
  Value* slope = context.input(1);
  const int64_t rank = context.input_rank(0);
  const int64_t channels = rank > 2 ? context.input_shape(0)[1] : kUnknownDim;
  const int64_t slopes = context.input_rank(1) == 1 ? context.input_shape(1)[0] : 1;
  if (rank > 2 && slopes != 1 && (channels == kUnknownDim || channels == slopes)) {
    std::vector<int64_t> axes;
    for (int64_t i = 1; i < rank - 1; ++i) axes.push_back(i);
    slope = context.unsqueezed(slope, axes);
  }
  context.finish("PRelu", {context.input(0), slope});
}

void elu(LayerContext& context) {
  Attributes attributes;
  attributes.set("alpha", context.real("alpha", 1.0f));
  context.finish("Elu", {context.input(0)}, std::move(attributes));
}

/// An input of one element as a number; refuses the layer when it is computed.
float required_number(LayerContext& context, size_t index, std::string_view what) {
  const auto values = context.constant_reals(index);
  if (values && values->size() == 1) return values->front();
  context.refuse(fmt::format("{} with {} that is no constant number is not supported",
                             context.layer().type, what));
  return 0.0f;
}

void selu(LayerContext& context) {
  Attributes attributes;
  attributes.set("alpha", required_number(context, 1, "alpha"));
  attributes.set("gamma", required_number(context, 2, "lambda"));
  context.finish("Selu", {context.input(0)}, std::move(attributes));
}

void hard_sigmoid(LayerContext& context) {
  Attributes attributes;
  attributes.set("alpha", required_number(context, 1, "alpha"));
  attributes.set("beta", required_number(context, 2, "beta"));
  context.finish("HardSigmoid", {context.input(0)}, std::move(attributes));
}

/// min(max(x + 3, 0), 6) / 6
void h_sigmoid(LayerContext& context) {
  Attributes attributes;
  attributes.set("alpha", 1.0f / 6.0f);
  attributes.set("beta", 0.5f);
  context.finish("HardSigmoid", {context.input(0)}, std::move(attributes));
}

void gelu(LayerContext& context) {
  const std::string mode = context.text("approximation_mode", "ERF");
  Attributes attributes;
  if (mode == "TANH" || mode == "tanh") attributes.set("approximate", std::string("tanh"));
  context.finish("Gelu", {context.input(0)}, std::move(attributes));
}

/// x * sigmoid(beta * x)
void swish(LayerContext& context) {
  Value* const x = context.input(0);
  Value* const scaled = context.has_input(1) ? context.add("Mul", {x, context.input(1)}) : x;
  context.finish("Mul", {x, context.add("Sigmoid", {scaled})});
}

constexpr Translation kActivationTable[] = {
    {"ReLU", plain},
    {"PReLU", prelu},
    {"Sigmoid", plain},
    {"Tanh", plain},
    {"HSwish", plain},
    {"Mish", plain},
    {"SoftPlus", plain},
    {"SoftSign", plain},
    {"Elu", elu},
    {"Selu", selu},
    {"HardSigmoid", hard_sigmoid},
    {"HSigmoid", h_sigmoid},
    {"Gelu", gelu},
    {"Swish", swish},
};

}  // namespace

std::span<const Translation> activation_translations() {
  return kActivationTable;
}

}  // namespace het::ir
