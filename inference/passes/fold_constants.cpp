#include "inference/passes/fold_constants.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "inference/ops/op.h"

namespace het {
namespace {

constexpr size_t kMaxFoldedBytes = size_t{16} << 20;
/// A result may be this many times its inputs even when it is larger than kMaxFoldedBytes ...
constexpr size_t kMaxGrowth = 4;
/// ... but never larger than this, so that chains of growing nodes end.
constexpr size_t kMaxGrownBytes = size_t{1} << 30;
/// Multiplications that folding one contraction may take.
constexpr int64_t kMaxProducts = int64_t{1} << 32;

/// Besides what is random: state, and bodies, whose work is not bounded by sizes; an If of known
/// condition is inlined instead.
constexpr std::array<std::string_view, 13> kNeverFolded = {"DequantizeLinear",
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
                                                           "Scan"};
/// Their work is not bounded by the size of their output.
constexpr std::array<std::string_view, 11> kContractions = {
    "Conv",        "ConvTranspose", "ConvInteger", "MatMul", "MatMulInteger", "Gemm",
    "QLinearConv", "QLinearMatMul", "DeformConv",  "Einsum", "Attention"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
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

bool worth_folding(const Node& node, const std::vector<const Tensor*>& inputs,
                   const std::vector<TensorDesc>& outputs) {
  size_t input_bytes = 0;
  int64_t largest_input = 1;
  for (const Tensor* input : inputs) {
    if (input == nullptr) continue;
    input_bytes += input->size_bytes();
    largest_input = std::max(largest_input, input->element_count());
  }
  for (const TensorDesc& output : outputs) {
    if (!output.is_static()) continue;  // sized by the data: at most a few times the input
    const auto bytes = dense_size_bytes(output);
    if (!bytes || *bytes > kMaxGrownBytes) return false;
    if (*bytes > kMaxFoldedBytes && *bytes / kMaxGrowth > input_bytes) return false;
    int64_t products = 0;
    if (contains(kContractions, node.op_type()) &&
        (__builtin_mul_overflow(element_count(output.shape), largest_input, &products) ||
         products > kMaxProducts)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<bool> fold_node(Model& model, Node& node) {
  if (node.op() == nullptr || node.op()->evaluate == nullptr) return false;
  if (is_op(node, "Shape") || is_op(node, "Size")) return fold_shape(model, node);
  if (contains(kNeverFolded, node.op_type())) return false;

  std::vector<const TensorDesc*> descs;
  std::vector<const Tensor*> contents;
  Tensor type_only;
  for (const Value* input : node.inputs()) {
    if (input == nullptr || input->is_constant()) {
      contents.push_back(input ? &input->constant() : nullptr);
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
  if (!worth_folding(node, contents, outputs)) return false;
  HET_ASSIGN(std::vector<Tensor> results, evaluate_node(node, contents));
  for (size_t i = 0; i < results.size(); ++i) {
    if (results[i].empty()) return false;
  }
  for (size_t i = 0; i < results.size(); ++i) model.make_constant(node.output(i), results[i]);
  return true;
}

Status fold_constants(Model& model) {
  // Folding adds no node, so the list can be walked while it happens.
  for (const auto& node : model.nodes()) HET_TRY(fold_node(model, *node));
  model.remove_unused();
  return {};
}

}  // namespace het
