#include <algorithm>
#include <optional>

#include "inference/passes/fusions/attention_parts.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/unary.h"

namespace het {
namespace {

bool is_matrix(const Value& value) {
  const TensorDesc& desc = value.desc();
  return desc.type == ElementType::Float32 && desc.is_static() && desc.shape.size() >= 2 &&
         element_count(desc.shape) > 0;
}

/// Softmax(query * key * factor + mask) * value.
struct Attention {
  Node* softmax = nullptr;
  Node* scores = nullptr;   ///< MatMul of query and key
  Node* product = nullptr;  ///< MatMul with the value
  Value* mask = nullptr;
  float factor = 1.0f;
};

/// The node before `value`, which reads it alone.
Node* only_producer(const Model& model, const Value& value) {
  Node* node = value.producer();
  return node != nullptr && only_reader(model, value) != nullptr ? node : nullptr;
}

std::optional<Attention> attention_of(const Model& model, Node& softmax) {
  if (!is_op(&softmax, "Softmax")) return std::nullopt;
  const Value& weights = *softmax.output();
  const auto rank = static_cast<int64_t>(weights.desc().shape.size());
  const int64_t axis = softmax.attributes().get_int("axis", -1);
  if (axis != -1 && axis != rank - 1) return std::nullopt;
  Attention found{.softmax = &softmax, .product = only_reader(model, weights)};
  if (!is_op(found.product, "MatMul") || found.product->input(0) != &weights) return std::nullopt;

  Node* before = only_producer(model, *softmax.input(0));
  if (is_op(before, "Add")) {
    const size_t scores = is_op(before->input(0)->producer(), "MatMul") ||
                                  scaled_operand(before->input(0)->producer()).has_value()
                              ? 0
                              : 1;
    found.mask = before->input(1 - scores);
    before = only_producer(model, *before->input(scores));
  }
  if (const auto scaled = scaled_operand(before)) {
    found.factor = scaled->factor;
    before = only_producer(model, *scaled->value);
  }
  if (!is_op(before, "MatMul")) return std::nullopt;
  found.scores = before;
  return found;
}

bool have_same_batch(const Value& a, const Value& b) {
  const Shape& x = a.desc().shape;
  const Shape& y = b.desc().shape;
  return x.size() == y.size() && std::equal(x.begin(), x.end() - 2, y.begin());
}

/// Strides of the product in what a Transpose makes of it, when that leaves rows together.
std::optional<Shape> transposed_strides(const Node& transpose) {
  const std::vector<int64_t> order = transpose.attributes().get_ints("perm");
  const Shape dense = row_major_strides(transpose.output()->desc().shape);
  Shape strides(dense.size());
  for (size_t d = 0; d < order.size(); ++d) strides[static_cast<size_t>(order[d])] = dense[d];
  return strides.back() == 1 ? std::optional(strides) : std::nullopt;
}

void fuse(Model& model, const Attention& found) {
  Value& query = *found.scores->input(0);
  Value& key = *found.scores->input(1);
  Value& value = *found.product->input(1);
  const Shape& scores = found.scores->output()->desc().shape;
  if (!is_matrix(query) || !is_matrix(key) || !is_matrix(value) || !have_same_batch(query, key) ||
      !have_same_batch(query, value) || key.is_constant() || value.is_constant()) {
    return;
  }
  AttentionParts parts{.scores = scores,
                       .query = strided_view(query),
                       .key = strided_view(key),
                       .value = strided_view(value),
                       .mask = found.mask,
                       .factor = found.factor};
  if (found.mask != nullptr) {
    const auto strides = attention_mask_strides(*found.mask, scores);
    if (!strides) return;
    parts.mask_strides = *strides;
  }
  Node* last = found.product;
  parts.output_strides = row_major_strides(last->output()->desc().shape);
  if (Node* reader = only_reader(model, *last->output()); is_op(reader, "Transpose")) {
    if (const auto turned = transposed_strides(*reader)) {
      parts.output_strides = *turned;
      last = reader;
    }
  }
  Node* made = replace(model, {found.scores, last, "Attention", "het", attention_inputs(parts),
                               attention_attributes(parts)});
  made->add_original_names(found.softmax->original_names());
  made->add_original_names(found.product->original_names());
}

}  // namespace

Status fuse_attention(Model& model) {
  for (size_t i = 0; i < model.nodes().size(); ++i) {
    const auto found = attention_of(model, *model.nodes()[i]);
    if (found) fuse(model, *found);
  }
  return {};
}

}  // namespace het
