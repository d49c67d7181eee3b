#include <array>
#include <optional>
#include <utility>

#include "inference/readers/onnx/lift_rules.h"

/// Operators of com.microsoft that ONNX Runtime's optimiser makes of several operators of ONNX:
/// they are taken apart again, so that every device runs them with the kernels it has.
namespace het::onnx {
namespace {

/// Makes the pending node this activation of `x`, with the parameters that are given.
void become_activation(LiftContext& context, const std::string& name, Value* x,
                       const std::vector<std::pair<std::string, float>>& parameters) {
  Attributes attributes;
  for (const auto& [key, value] : parameters) attributes.set(key, value);
  context.become(name, {x}, std::move(attributes));
}

/// Sum of an input and the optional others.
Value* sum(LiftContext& context, Value* first, std::initializer_list<Value*> others) {
  for (Value* other : others) {
    if (other != nullptr) first = context.insert("Add", {first, other});
  }
  return first;
}

/// Dimensions [first, first + 1) of a value as a list.
Value* one_dimension(LiftContext& context, Value* x, int64_t first) {
  Attributes attributes;
  attributes.set("start", first);
  attributes.set("end", first + 1);
  return context.insert("Shape", {x}, std::move(attributes));
}

/// How many words of a row the mask has; 0 of every row where there is none.
Value* words_of_rows(LiftContext& context, Value* ids, Value* mask) {
  if (mask == nullptr) {
    return context.insert("Expand", {context.constant("no_words", Tensor::scalar(int32_t{0})),
                                     one_dimension(context, ids, 0)});
  }
  Attributes attributes;
  attributes.set("keepdims", int64_t{0});
  return context.insert("ReduceSum", {mask, context.constant("words", {1})}, std::move(attributes));
}

/// Names of an activation's parameters, in the order of FusedConv's activation_params.
std::array<const char*, 2> parameter_names(std::string_view activation) {
  if (activation == "HardSigmoid") return {"alpha", "beta"};
  return {"alpha", nullptr};
}

}  // namespace

/// Conv, plus Z, then `activation` with activation_params.
void lift_fused_conv(LiftContext& context) {
  PendingNode& node = context.node();
  const std::string activation = node.attributes.get_string("activation", "");
  const std::vector<float> values = node.attributes.get_floats("activation_params");
  node.attributes.erase("activation");
  node.attributes.erase("activation_params");
  Value* const z = node.input(3);
  if (node.inputs.size() > 3) node.inputs.resize(3);
  if (z == nullptr && activation.empty()) {
    return context.become("Conv", node.inputs, node.attributes);
  }
  Value* const conv = context.insert("Conv", node.inputs, node.attributes);
  if (activation.empty()) return context.become("Add", {conv, z});
  Value* const total = sum(context, conv, {z});
  if (activation == "Clip" && values.size() == 2) {
    return context.become("Clip", {total, context.scalar_like("min", values[0], node.input(0)),
                                   context.scalar_like("max", values[1], node.input(0))});
  }
  std::vector<std::pair<std::string, float>> parameters;
  const auto names = parameter_names(activation);
  for (size_t i = 0; i < values.size(); ++i) {
    if (i >= names.size() || names[i] == nullptr) {
      return context.refuse(
          fmt::format("FusedConv with activation '{}' and {} parameters is not supported",
                      activation, values.size()));
    }
    parameters.emplace_back(names[i], values[i]);
  }
  become_activation(context, activation, total, parameters);
}

/// Gemm, then `activation` with activation_alpha, _beta and _gamma.
void lift_fused_gemm(LiftContext& context) {
  PendingNode& node = context.node();
  const std::string activation = node.attributes.get_string("activation", "");
  std::vector<std::pair<std::string, float>> parameters;
  node.attributes.erase("activation");
  for (const char* name : {"alpha", "beta", "gamma"}) {
    const std::string key = std::string("activation_") + name;
    if (!node.attributes.has(key)) continue;
    parameters.emplace_back(name, node.attributes.get_float(key, 0));
    node.attributes.erase(key);
  }
  if (activation.empty()) return context.become("Gemm", node.inputs, node.attributes);
  Value* const product = context.insert("Gemm", node.inputs, node.attributes);
  become_activation(context, activation, product, parameters);
}

/// alpha * A B with either matrix transposed.
void lift_fused_matmul(LiftContext& context) {
  PendingNode& node = context.node();
  const Attributes attributes = node.attributes;
  std::vector<Value*> operands{node.input(0), node.input(1)};
  for (size_t i = 0; i < 2; ++i) {
    if (operands[i] == nullptr) return context.refuse("FusedMatMul needs A and B");
    const bool is_turned = attributes.get_int(i == 0 ? "transA" : "transB", 0) != 0;
    if (attributes.get_int(i == 0 ? "transBatchA" : "transBatchB", 0) != 0) {
      // Rows come before the batch.
      Attributes moves;
      moves.set("equation", std::string(is_turned ? "i...j->...ji" : "i...j->...ij"));
      operands[i] = context.insert("Einsum", {operands[i]}, std::move(moves));
    } else if (is_turned) {
      operands[i] = context.swap_last_two(operands[i]);
    }
  }
  const float alpha = attributes.get_float("alpha", 1.0f);
  if (alpha == 1.0f) return context.become("MatMul", std::move(operands));
  Value* const factor = context.scalar_like("alpha", alpha, node.input(0));
  context.become("Mul", {context.insert("MatMul", std::move(operands)), factor});
}

/// BiasGelu, FastGelu (the tanh form, its bias is optional).
void lift_bias_gelu(LiftContext& context) {
  PendingNode& node = context.node();
  Attributes attributes;
  if (node.op_type == "FastGelu") attributes.set("approximate", std::string("tanh"));
  Value* const x = sum(context, node.input(0), {node.input(1)});
  context.become("Gelu", {x}, std::move(attributes));
}

/// x * sigmoid(alpha x).
void lift_quick_gelu(LiftContext& context) {
  Attributes attributes;
  attributes.set("alpha", context.attributes().get_float("alpha", 1.702f));
  context.become("Swish", {context.node().input(0)}, std::move(attributes));
}

/// Adds the bias; the left half of the last dimension times Gelu of the right half.
void lift_bias_split_gelu(LiftContext& context) {
  Attributes halves;
  halves.set("axis", int64_t{-1});
  halves.set("num_outputs", int64_t{2});
  Value* const x = sum(context, context.node().input(0), {context.node().input(1)});
  const std::vector<Value*> parts = context.insert_parts("Split", {x}, 2, std::move(halves));
  context.become("Mul", {parts[0], context.insert("Gelu", {parts[1]})});
}

/// LayerNormalization of input + skip + bias, which is output 3.
void lift_skip_layer_normalization(LiftContext& context) {
  PendingNode& node = context.node();
  const bool simplified = node.op_type == "SkipSimplifiedLayerNormalization";
  Attributes attributes;
  attributes.set("axis", int64_t{-1});
  attributes.set("epsilon", node.attributes.get_float("epsilon", 1e-12f));
  Value* const total = sum(context, node.input(0), {node.input(1), node.input(simplified ? 3 : 4)});
  if (node.outputs.size() > 3) {
    context.bind_output(3, total);
    node.outputs.resize(3);
  }
  if (simplified) {
    context.drop_outputs(1, "statistics of SkipSimplifiedLayerNormalization are not supported");
    if (!node.unsupported_reason.empty()) return;
    return context.become("RMSNormalization", {total, node.input(2)}, std::move(attributes));
  }
  context.become("LayerNormalization", {total, node.input(2), node.input(3)},
                 std::move(attributes));
}

/// LayerNormalization of the sum of the embeddings of words, positions and segments. Inputs:
/// input_ids, segment_ids, the three tables, gamma, beta, mask and position_ids, by default 0, 1
/// and so on; outputs: the result, words_of_rows(), the sum.
void lift_embed_layer_normalization(LiftContext& context) {
  PendingNode& node = context.node();
  for (const size_t needed : {0, 2, 3, 5, 6}) {
    if (node.input(needed) == nullptr) {
      return context.refuse(fmt::format("input {} of EmbedLayerNormalization is missing", needed));
    }
  }
  Value* const ids = node.input(0);
  Value* const position_table = node.input(3);
  Value* const positions =
      node.input(8) != nullptr
          ? context.insert("Gather", {position_table, node.input(8)})
          : context.insert("Slice",
                           {position_table, context.constant("begin", {0}),
                            one_dimension(context, ids, 1), context.constant("rows", {0})});
  Value* const segments = node.input(1) != nullptr && node.input(4) != nullptr
                              ? context.insert("Gather", {node.input(4), node.input(1)})
                              : nullptr;
  Value* const total =
      sum(context, context.insert("Gather", {node.input(2), ids}), {positions, segments});
  const bool counts = node.attributes.get_int("mask_index_type", 1) != 0;
  if (node.outputs.size() > 1) {
    context.bind_output(1, words_of_rows(context, ids, counts ? node.input(7) : nullptr));
  }
  if (node.outputs.size() > 2) context.bind_output(2, total);
  node.outputs.resize(1);
  Attributes attributes;
  attributes.set("axis", int64_t{-1});
  attributes.set("epsilon", node.attributes.get_float("epsilon", 1e-12f));
  context.become("LayerNormalization", {total, node.input(5), node.input(6)},
                 std::move(attributes));
}

/// ONNX Runtime's name of RMSNormalization.
void lift_simplified_layer_normalization(LiftContext& context) {
  context.drop_outputs(1, "the statistics of SimplifiedLayerNormalization are not supported");
  if (!context.node().unsupported_reason.empty()) return;
  context.become("RMSNormalization", context.node().inputs, context.attributes());
}

/// GroupNormalization of a picture, by default with channels last, then SiLU where activation is 1.
void lift_group_norm(LiftContext& context) {
  PendingNode& node = context.node();
  Value* const x = node.input(0);
  if (x == nullptr || node.input(1) == nullptr || node.input(2) == nullptr) {
    return context.refuse("GroupNorm needs X, gamma and beta");
  }
  const bool last = node.attributes.get_int("channels_last", 1) != 0;
  const bool silu = node.attributes.get_int("activation", 0) != 0;
  Attributes attributes;
  attributes.set("num_groups", node.attributes.get_int("groups", 0));
  attributes.set("epsilon", node.attributes.get_float("epsilon", 1e-5f));
  Value* const planes = last ? context.transpose(x, {0, 3, 1, 2}) : x;
  std::vector<Value*> inputs{planes, context.insert("CastLike", {node.input(1), x}),
                             context.insert("CastLike", {node.input(2), x})};
  if (!last && !silu) return context.become("GroupNormalization", inputs, std::move(attributes));
  Value* y = context.insert("GroupNormalization", std::move(inputs), std::move(attributes));
  if (!last) return context.become("Swish", {y});
  if (silu) y = context.insert("Swish", {y});
  context.become_transpose(y, {0, 2, 3, 1});
}

/// MaxPool with channels last; kernel_shape tells the rank.
void lift_nhwc_max_pool(LiftContext& context) {
  PendingNode& node = context.node();
  const auto rank = static_cast<int64_t>(node.attributes.get_ints("kernel_shape").size()) + 2;
  if (node.input(0) == nullptr || rank < 3 || rank > 5) {
    return context.refuse("NhwcMaxPool needs X and a kernel_shape of 1 to 3 dimensions");
  }
  std::vector<int64_t> first{0, rank - 1};
  std::vector<int64_t> last{0};
  for (int64_t d = 1; d + 1 < rank; ++d) {
    first.push_back(d);
    last.push_back(d + 1);
  }
  last.push_back(1);
  Value* const planes = context.transpose(node.input(0), first);
  context.become_transpose(context.insert("MaxPool", {planes}, node.attributes), last);
}

/// Operators that ONNX has too, under the same or another name.
void lift_same_operator(LiftContext& context) {
  PendingNode& node = context.node();
  const std::string name = node.op_type == "ExpandDims" ? "Unsqueeze" : node.op_type;
  if (name == "GridSample") lift_grid_sample(context);
  context.become(name, node.inputs, node.attributes);
}

/// The input Pads is ConvTranspose's attribute.
void lift_conv_transpose_with_pads(LiftContext& context) {
  PendingNode& node = context.node();
  Value* const pads = node.input(2);
  if (pads != nullptr) {
    const auto values = pads->is_constant() ? to_int64_vector(pads->constant())
                                            : Result<std::vector<int64_t>>(std::vector<int64_t>());
    if (!pads->is_constant() || !values) {
      return context.refuse("ConvTransposeWithDynamicPads needs constant pads");
    }
    node.attributes.set("pads", *values);
  }
  context.become("ConvTranspose", {node.input(0), node.input(1), node.input(3)}, node.attributes);
}

}  // namespace het::onnx
