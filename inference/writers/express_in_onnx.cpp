#include "inference/writers/express_in_onnx.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/readers/onnx/graph.h"
#include "inference/writers/express_fake_quantize.h"

namespace het {
namespace {

/// Later opsets gave most operators further types only, and ONNX Runtime is behind with those. Of
/// 21 its own quantisation of weights (1.32) makes nodes that it then refuses.
constexpr int64_t kWidespreadOpset = 20;
/// Quantisation to 16 bits and in blocks.
constexpr int64_t kWideQuantisation = 21;

struct Newcomer {
  std::string_view op_type;
  int64_t opset;
};
constexpr std::array kNewcomers = {Newcomer{"Attention", 23},
                                   Newcomer{"BitCast", 26},
                                   Newcomer{"CausalConvWithState", 27},
                                   Newcomer{"CumProd", 26},
                                   Newcomer{"GroupNormalization", 21},
                                   Newcomer{"LinearAttention", 27},
                                   Newcomer{"RMSNormalization", 23},
                                   Newcomer{"RotaryEmbedding", 23},
                                   Newcomer{"SwiGLU", onnx::kNewestOpset},
                                   Newcomer{"Swish", 24},
                                   Newcomer{"TensorScatter", 24}};

/// Types that some operators have since opset 22 or later.
bool is_new_type(ElementType type) {
  return type == ElementType::BFloat16 || (type != ElementType::Undefined && bit_width(type) < 8);
}

/// The bodies of If, Loop and Scan.
std::vector<const Model*> bodies_of(const Node& node) {
  std::vector<const Model*> bodies;
  for (const auto& [name, attribute] : node.attributes()) {
    const auto* body = std::get_if<std::shared_ptr<Model>>(&attribute);
    if (body != nullptr) bodies.push_back(body->get());
  }
  return bodies;
}

bool knows(const Node& node) {
  const std::string& domain = node.domain();
  return domain.empty() || domain == "ai.onnx.ml" || domain == "com.microsoft";
}

/// What ONNX Runtime lacks of a node; empty where it has all. OpenVINO convolves whole numbers,
/// too, which ONNX has no type for.
std::string lacking(const Node& node) {
  if (!knows(node)) return node.domain() + "." + node.op_type();
  if (!node.domain().empty() || (node.op_type() != "Conv" && node.op_type() != "ConvTranspose"))
    return {};
  for (const Value* input : node.inputs()) {
    if (input != nullptr && is_integer(input->desc().type))
      return fmt::format("{} of {}", node.op_type(), to_string(input->desc().type));
  }
  return {};
}

/// Nodes of a type that ONNX Runtime does not know.
struct Unknown {
  std::string first;
  size_t count = 0;
};

void collect_unknown(const Model& model, std::map<std::string, Unknown>& found) {
  for (const auto& node : model.nodes()) {
    for (const Model* body : bodies_of(*node)) collect_unknown(*body, found);
    const std::string name = lacking(*node);
    if (name.empty()) continue;
    Unknown& entry = found[name];
    if (entry.count++ == 0) entry.first = node->name();
  }
}

/// x / sqrt(sum of squares + eps), or with the larger of both.
void express_normalize_l2(Model& model, Node& node) {
  const auto add = [&](const std::string& suffix, const char* type, std::vector<Value*> inputs,
                       Attributes attributes = {}) {
    Node* added = model.add_node(node.name() + suffix, type, "", std::move(inputs),
                                 {node.output()->name() + suffix}, std::move(attributes));
    return added->output();
  };
  Value* const x = node.input(0);
  const bool adds = node.attributes().get_string("eps_mode", "") == "add";
  Value* eps = model.add_constant(node.name() + "/eps",
                                  Tensor::scalar(node.attributes().get_float("eps", 0)));
  Attributes keep;
  keep.set("keepdims", int64_t{1});
  keep.set("noop_with_empty_axes", int64_t{1});
  Value* const squares = add("/squares", "Mul", {x, x});
  Value* const sum = add("/sum", "ReduceSum", {squares, node.input(1)}, std::move(keep));
  Value* const bounded =
      add("/bounded", adds ? "Add" : "Max", {sum, add("/eps_as", "CastLike", {eps, x})});
  replace(model, {&node, &node, "Div", "", {x, add("/norm", "Sqrt", {bounded})}, {}});
}

/// ONNX lets the grid have a type of its own; ONNX Runtime (1.32) knows that of the picture only.
void express_grid_sample(Model& model, Node& node) {
  Value* const picture = node.input(0);
  Value* const grid = node.input(1);
  // Where sizes are open, types may be, too.
  const ElementType type = grid->desc().type;
  if (type != ElementType::Undefined && type == picture->desc().type) return;
  const Node* const cast = model.add_node(node.name() + "/grid", "CastLike", "", {grid, picture},
                                          {node.output()->name() + "/grid"});
  replace(model, {&node, &node, "GridSample", "", {picture, cast->output()}, node.attributes()});
}

Status express_nodes(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (is_detached(node) || node.op() == nullptr) continue;
    if (node.domain().empty() && node.op_type() == "GridSample") express_grid_sample(model, node);
    if (node.domain() != "het") continue;
    if (node.op_type() == "FakeQuantize") HET_TRY(express_fake_quantize(model, node));
    if (node.op_type() == "NormalizeL2") express_normalize_l2(model, node);
  }
  return {};
}

}  // namespace

Status express_in_onnx(Model& model) {
  return run_rewrites(model, {restore_dequantisation, express_nodes});
}

int64_t oldest_opset(const Model& model) {
  int64_t opset = kWidespreadOpset;
  for (const auto& node : model.nodes()) {
    for (const Model* body : bodies_of(*node)) opset = std::max(opset, oldest_opset(*body));
    if (!node->domain().empty()) continue;
    const auto found = std::ranges::find(kNewcomers, node->op_type(), &Newcomer::op_type);
    if (found != kNewcomers.end()) opset = std::max(opset, found->opset);
    if (node->attributes().has("block_size") || node->attributes().has("output_dtype")) {
      opset = std::max(opset, kWideQuantisation);
    }
    // Attributes that came later: how Cast rounds, what QuantizeLinear computes in.
    if (node->attributes().has("round_mode") || node->attributes().has("precision")) {
      opset = onnx::kNewestOpset;
    }
  }
  for (const auto& value : model.values()) {
    const ElementType type = value->is_constant() ? value->constant().type() : value->desc().type;
    if (is_new_type(type)) return onnx::kNewestOpset;
    if (type == ElementType::Int16 || type == ElementType::UInt16) {
      opset = std::max(opset, kWideQuantisation);
    }
  }
  return opset;
}

std::vector<std::string> unknown_to_onnx_runtime(const Model& model) {
  std::map<std::string, Unknown> found;
  collect_unknown(model, found);
  std::vector<std::string> sentences;
  for (const auto& [type, entry] : found) {
    const std::string others =
        entry.count > 1 ? fmt::format(" and {} more", entry.count - 1) : std::string();
    sentences.push_back(
        fmt::format("{} (node '{}'{}) is no operator of ONNX Runtime", type, entry.first, others));
  }
  return sentences;
}

}  // namespace het
