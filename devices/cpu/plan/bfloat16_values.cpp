#include "devices/cpu/plan/bfloat16_values.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/ops/reductions/reduce.h"
#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::cpu {
namespace {

constexpr std::array<std::string_view, 2> kMatrixProducts = {"MatMul", "Gemm"};
constexpr std::array<std::string_view, 2> kRowNormalisations = {"LayerNormalization",
                                                                "RMSNormalization"};
constexpr std::array<std::string_view, 2> kGroupNormalisations = {"InstanceNormalization",
                                                                  "GroupNormalization"};
/// Those that move elements of all of their inputs.
constexpr std::array<std::string_view, 2> kJoiningTypes = {"Concat", "ChannelGather"};
constexpr std::array<std::string_view, 15> kMovingTypes = {
    "Concat",       "Slice",   "Split",       "ChannelShuffle", "ChannelGather", "Resize",
    "Reshape",      "Flatten", "Squeeze",     "Unsqueeze",      "Identity",      "Transpose",
    "DepthToSpace", "Pad",     "SpaceToDepth"};

template <size_t N>
bool is_one_of(const Node& node, const std::array<std::string_view, N>& types) {
  return std::ranges::find(types, node.op_type()) != types.end();
}

bool is_constant(const Value* value) {
  return value != nullptr && value->is_constant();
}

/// A reduction over all pixels, and no other axis.
bool is_global_pool(const Node& node) {
  if (!reduce_kind(node.op_type())) return false;
  const Value* axes = node.input(1);
  if (axes != nullptr && !axes->is_constant()) return false;
  const Shape& shape = node.input(0)->desc().shape;
  const auto reduced =
      reduce_attributes(node, shape, axes != nullptr ? &axes->constant() : nullptr);
  return reduced && shape.size() >= 3 && reduced->axes.size() + 2 == shape.size() &&
         reduced->axes.front() == 2;
}

/// A reduction whose result is as near to what it says from rounded values as these are.
bool keeps_distance(const Node& node) {
  static constexpr std::array<std::string_view, 3> kTypes = {"ReduceL2", "ReduceMax", "ReduceMin"};
  return is_one_of(node, kTypes);
}

class Marking {
 public:
  explicit Marking(const Model& model) {
    for (const ModelOutput& output : model.outputs()) outputs_.insert(output.value);
    for (const ModelOutput& output : model.outputs()) follow_stream(output.value);
    // Readers before what they read.
    for (auto node = model.nodes().rbegin(); node != model.nodes().rend(); ++node) {
      for (const Value* value : (*node)->outputs()) {
        if (is_kept(value)) kept_.insert(value);
      }
    }
  }

  std::unordered_set<const Value*> take() { return std::move(kept_); }

 private:
  bool is_kept(const Value* value) const {
    return value != nullptr && value->desc().type == ElementType::Float32 &&
           outputs_.count(value) == 0 && streams_.count(value) == 0 &&
           !value->consumers().empty() &&
           std::ranges::all_of(value->consumers(),
                               [&](const Node* reader) { return takes(*reader, *value); });
  }

  /// Where a model shows the stream of a transformer itself, not what a product makes of it, the
  /// stream stays float32: each sum on its way would round all before it once more. It begins with
  /// a normalisation or a product with a sum behind which nothing but moves and expressions stand.
  void follow_stream(const Value* shown) {
    std::vector<std::pair<const Value*, bool>> open = {{shown, false}};
    while (!open.empty()) {
      const auto [value, is_stream] = open.back();
      open.pop_back();
      const Node* node = value != nullptr ? value->producer() : nullptr;
      if (node == nullptr) continue;
      const bool is_product = is_one_of(*node, kMatrixProducts);
      const bool is_normalisation = is_one_of(*node, kRowNormalisations);
      const bool passes = is_one_of(*node, kMovingTypes) || elementwise_of(*node).has_value();
      if (!is_product && !is_normalisation && !passes) continue;
      if (!(is_stream ? streams_ : seen_).insert(value).second) continue;
      if (is_product) {
        if (node->domain() == "het") open.emplace_back(node->input(kTailSumInput), true);
      } else if (is_normalisation) {
        open.emplace_back(node->input(0), true);
      } else {
        for (const Value* input : node->inputs()) open.emplace_back(input, is_stream);
      }
    }
  }

  bool takes(const Node& reader, const Value& value) const {
    static constexpr std::array<std::string_view, 2> kConvolutions = {"Conv", "ConvTranspose"};
    static constexpr std::array<std::string_view, 4> kPools = {
        "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"};
    if (!reader.domain().empty() && reader.domain() != "het") return false;
    if (is_one_of(reader, kConvolutions)) {
      // What is added has the type of the result.
      return is_constant(reader.input(1)) &&
             (reader.input(kTailSumInput) != &value || is_kept_already(reader));
    }
    if (is_one_of(reader, kMatrixProducts)) {
      return reader.input(kTailSumInput) != &value || is_kept_already(reader);
    }
    if (is_one_of(reader, kPools) || is_global_pool(reader) || keeps_distance(reader)) return true;
    // Other operands are read as float32.
    if (is_one_of(reader, kRowNormalisations) || is_one_of(reader, kGroupNormalisations)) {
      return reads_only_first(reader, value, 1);
    }
    if (reader.op_type() == "Attention" && reader.domain() == "het") {
      return reads_only_first(reader, value, 3);
    }
    if (is_one_of(reader, kMovingTypes)) {
      // Sizes, scales and what is padded with are read as float32.
      return (is_one_of(reader, kJoiningTypes) || reads_only_first(reader, value, 1)) &&
             is_kept_already(reader);
    }
    return elementwise_of(reader).has_value();
  }

  /// True when `value` is none of the reader's inputs from this one on.
  static bool reads_only_first(const Node& reader, const Value& value, size_t count) {
    const auto inputs = reader.inputs();
    return inputs.size() <= count || std::find(inputs.begin() + static_cast<std::ptrdiff_t>(count),
                                               inputs.end(), &value) == inputs.end();
  }

  bool is_kept_already(const Node& node) const {
    return std::ranges::all_of(node.outputs(),
                               [&](const Value* value) { return kept_.count(value) > 0; });
  }

  std::unordered_set<const Value*> outputs_;
  std::unordered_set<const Value*> seen_;     ///< between outputs and streams
  std::unordered_set<const Value*> streams_;  ///< shown by outputs
  std::unordered_set<const Value*> kept_;
};

}  // namespace

std::unordered_set<const Value*> bfloat16_values(const Model& model) {
  return Marking(model).take();
}

}  // namespace het::cpu
