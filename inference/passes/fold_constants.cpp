#include "inference/passes/fold_constants.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "inference/ops/op.h"
#include "inference/passes/fold_budget.h"

namespace het {
namespace {

constexpr size_t kMaxFoldedBytes = size_t{16} << 20;
/// A result may be this many times its inputs even when it is larger than kMaxFoldedBytes ...
constexpr size_t kMaxGrowth = 4;
/// ... but never larger than this, so that chains of growing nodes end.
constexpr size_t kMaxGrownBytes = size_t{1} << 30;
/// Steps that folding one node may take.
constexpr int64_t kMaxSteps = int64_t{1} << 32;

/// Besides what is random: state, and what sizes do not bound: bodies (an If of known condition is
/// inlined instead), samples of regions.
constexpr std::string_view kNeverFolded[] = {"DequantizeLinear",
                                             "RandomNormal",
                                             "RandomNormalLike",
                                             "RandomUniform",
                                             "RandomUniformLike",
                                             "Bernoulli",
                                             "Multinomial",
                                             "Dropout",
                                             "ReadValue",
                                             "Assign",
                                             "If",
                                             "Loop",
                                             "Scan",
                                             "RoiAlign",
                                             "ROIAlign",
                                             "MaxRoiPool",
                                             "ROIPooling",
                                             "PSROIPooling",
                                             "DeformablePSROIPooling",
                                             "Proposal",
                                             "DetectionOutput"};
/// Their steps are bounded by the product of an output and the largest input, not by the sum.
constexpr std::string_view kProducts[] = {"Conv",
                                          "ConvTranspose",
                                          "ConvInteger",
                                          "QLinearConv",
                                          "DeformConv",
                                          "CausalConvWithState",
                                          "MatMul",
                                          "MatMulInteger",
                                          "QLinearMatMul",
                                          "Gemm",
                                          "Attention",
                                          "LinearAttention",
                                          "RNN",
                                          "GRU",
                                          "LSTM",
                                          "DynamicQuantizeLSTM",
                                          "Det",
                                          "DFT",
                                          "STFT",
                                          "Col2Im",
                                          "LRN",
                                          "AveragePool",
                                          "MaxPool",
                                          "LpPool",
                                          "QLinearAveragePool",
                                          "NonMaxSuppression",
                                          "TfIdfVectorizer"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool is_op(const Node& node, std::string_view type) {
  return node.domain().empty() && node.op_type() == type;
}

/// Shape and Size only need the shape of their input.
bool fold_shape(Model& model, Node& node) {
  const Value* x = node.input(0);
  if (x == nullptr || !x->desc().is_static()) return false;
  const Shape& shape = x->desc().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  if (is_op(node, "Size")) {
    const auto count = checked_element_count(shape);
    if (!count) return false;
    model.make_constant(node.output(), Tensor::scalar(*count));
    return true;
  }
  const auto clamp = [rank](int64_t axis) {
    return std::clamp<int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
  };
  const int64_t start = clamp(node.attributes().get_int("start", 0));
  const int64_t end = std::max(start, clamp(node.attributes().get_int("end", rank)));
  const Shape part(shape.begin() + start, shape.begin() + end);
  model.make_constant(node.output(), Tensor::from<int64_t>({end - start}, part));
  return true;
}

/// What folding costs, as far as sizes tell it.
struct FoldCost {
  size_t input_bytes = 0;
  size_t output_bytes = 0;  ///< of all outputs
  size_t largest_output_bytes = 0;
  int64_t steps = 0;  ///< elements that are touched, or products
};

/// Outputs that are sized by the data are as large as they can get. Nothing when numbers overflow.
std::optional<FoldCost> fold_cost(const Node& node, const std::vector<const Tensor*>& inputs,
                                  const std::vector<TensorDesc>& outputs) {
  FoldCost cost;
  int64_t largest_input = 1;
  size_t rank = 0;
  for (const Tensor* input : inputs) {
    if (input == nullptr) continue;
    cost.input_bytes += input->size_bytes();
    cost.steps += input->element_count();
    largest_input = std::max(largest_input, input->element_count());
    rank = std::max(rank, input->shape().size());
  }
  // Indices of everything (NonZero), or index triples (NonMaxSuppression).
  const size_t unknown_bytes =
      static_cast<size_t>(largest_input) * std::max<size_t>(rank, 3) * sizeof(int64_t);
  const bool multiplies = contains(kProducts, node.op_type());
  if (is_op(node, "Einsum")) {
    // Every letter is one of an input's.
    int64_t products = 1;
    for (const Tensor* input : inputs) {
      if (input && __builtin_mul_overflow(products, input->element_count(), &products))
        return std::nullopt;
    }
    if (__builtin_add_overflow(cost.steps, products, &cost.steps)) return std::nullopt;
  }
  for (const TensorDesc& output : outputs) {
    size_t bytes = unknown_bytes;
    int64_t elements = largest_input;
    if (output.is_static()) {
      const auto known = dense_size_bytes(output);
      if (!known) return std::nullopt;
      bytes = *known;
      elements = element_count(output.shape);
    }
    cost.output_bytes += bytes;
    cost.largest_output_bytes = std::max(cost.largest_output_bytes, bytes);
    int64_t steps = elements;
    if ((multiplies && __builtin_mul_overflow(elements, largest_input, &steps)) ||
        __builtin_add_overflow(cost.steps, steps, &cost.steps)) {
      return std::nullopt;
    }
  }
  return cost;
}

bool worth_folding(const FoldCost& cost) {
  const size_t largest = cost.largest_output_bytes;
  if (largest > kMaxGrownBytes || cost.steps > kMaxSteps) return false;
  return largest <= kMaxFoldedBytes || largest / kMaxGrowth <= cost.input_bytes;
}

/// Known like a constant, whoever makes it.
bool has_no_elements(const Value& value) {
  // Shapes of damaged files may have more elements than can be counted.
  const Shape& shape = value.desc().shape;
  return value.desc().is_static() && std::ranges::find(shape, 0) != shape.end();
}

}  // namespace

Result<bool> fold_empty_outputs(Model& model, Node& node) {
  constexpr std::string_view kKept[] = {"ReadValue", "Assign", "If", "Loop", "Scan"};
  if (contains(kKept, node.op_type())) return false;
  if (node.outputs().empty()) return false;
  for (const Value* output : node.outputs()) {
    if (!has_no_elements(*output)) return false;
  }
  for (Value* output : node.outputs()) {
    HET_ASSIGN(const Tensor content, Tensor::allocate(output->desc()));
    model.make_constant(output, content);
  }
  return true;
}

Result<bool> fold_node(Model& model, Node& node) {
  if (node.op() == nullptr || node.op()->evaluate == nullptr) return false;
  if (node.outputs().empty()) return false;
  if (is_op(node, "Shape") || is_op(node, "Size")) return fold_shape(model, node);
  if (contains(kNeverFolded, node.op_type())) return false;

  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  Tensor type_only;
  std::deque<Tensor> empties;
  for (const Value* input : node.inputs()) {
    if (input == nullptr || input->is_constant()) {
      contents.push_back(input ? &input->constant() : nullptr);
    } else if (has_no_elements(*input)) {
      HET_ASSIGN(empties.emplace_back(), Tensor::allocate(input->desc()));
      contents.push_back(&empties.back());
    } else if (is_op(node, "CastLike") && contents.size() == 1 &&
               input->desc().type != ElementType::Undefined) {
      // The second input only tells the type.
      HET_ASSIGN(type_only, Tensor::allocate({input->desc().type, {0}}));
      contents.push_back(&type_only);
    } else {
      return false;
    }
    descs.push_back(contents.back() ? &contents.back()->desc() : nullptr);
  }
  HET_ASSIGN(const std::vector<TensorDesc> outputs, infer_node(node, descs, contents));
  const auto cost = fold_cost(node, contents, outputs);
  if (!cost || !worth_folding(*cost)) return false;
  if (!FoldBudget::take(node, cost->output_bytes, cost->steps)) return false;
  HET_ASSIGN(std::vector<Tensor> results, evaluate_node(node, contents));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].empty()) return false;
  }
  for (size_t i = 0; i < results.size(); ++i) model.make_constant(node.output(i), results[i]);
  return true;
}

Status fold_constants(Model& model) {
  const FoldBudget budget(model);
  // Folding adds no node, so the list can be walked while it happens.
  for (const auto& node : model.nodes()) HET_TRY(fold_node(model, *node));
  model.remove_unused();
  return {};
}

}  // namespace het
