#include <algorithm>
#include <cmath>
#include <limits>

#include "inference/passes/fusions/attention_parts.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

/// A mask that keeps later keys out is a constant of this many values at most.
constexpr int64_t kMostCausal = 16 << 20;

/// True for what the kernel computes: no past, no soft cap, no windows, nothing but the result.
bool is_simple(const Model& model, const Node& node) {
  if (!node.domain().empty() || node.op_type() != "Attention" || is_detached(node)) return false;
  for (size_t i = 0; i < 3; ++i) {
    const TensorDesc& desc = node.input(i)->desc();
    if (desc.type != ElementType::Float32 || !desc.is_static() || element_count(desc.shape) == 0 ||
        node.input(i)->is_constant()) {
      return false;
    }
  }
  for (size_t i = 4; i < node.inputs().size(); ++i) {
    if (node.input(i) != nullptr) return false;
  }
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    if (node.output(i) != nullptr && is_read(model, *node.output(i))) return false;
  }
  const Attributes& attributes = node.attributes();
  return attributes.get_float("softcap", 0.0f) == 0.0f &&
         attributes.get_int("left_window_size", -1) < 0 &&
         attributes.get_int("right_window_size", -1) < 0 &&
         (attributes.get_int("is_causal", 0) == 0 || node.input(3) == nullptr);
}

/// [batch, length, heads * size] or [batch, heads, length, size] as [batch, groups, heads of a
/// group, length, size]; with one head for a whole group it is repeated.
StridedView heads_of(Value& value, int64_t heads, int64_t groups, int64_t per_group) {
  StridedView view = strided_view(value);
  const Shape& shape = value.desc().shape;
  const bool is_packed = shape.size() == 3;
  const int64_t own = heads / groups;
  const Shape split = is_packed ? Shape{shape[0], shape[1], groups, own, shape[2] / heads}
                                : Shape{shape[0], groups, own, shape[2], shape[3]};
  if (!reshape_view(view, split)) {
    view = whole_view(value);
    reshape_view(view, split);
  }
  if (is_packed) {
    const auto turn = [](Shape& dims) { dims = {dims[0], dims[2], dims[3], dims[1], dims[4]}; };
    turn(view.shape);
    turn(view.strides);
  }
  if (own == 1) {
    view.shape[2] = per_group;
    view.strides[2] = 0;
  }
  return view;
}

Tensor causal_mask(int64_t queries, int64_t keys) {
  std::vector<float> values(static_cast<size_t>(queries * keys), 0.0f);
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = i + 1; j < keys; ++j) {
      values[static_cast<size_t>(i * keys + j)] = -std::numeric_limits<float>::infinity();
    }
  }
  return Tensor::from<float>({queries, keys}, values);
}

/// The strides of a mask along [batch, heads, queries, keys], with the heads in groups.
Shape in_groups(const Shape& strides, int64_t per_group) {
  return {strides[0], strides[1] * per_group, strides[1], strides[2], strides[3]};
}

void lower(Model& model, Node& node) {
  const Attributes& attributes = node.attributes();
  const Shape& q = node.input(0)->desc().shape;
  const Shape& k = node.input(1)->desc().shape;
  const bool is_packed = q.size() == 3;
  const int64_t q_heads = is_packed ? attributes.get_int("q_num_heads", 0) : q[1];
  const int64_t groups = is_packed ? attributes.get_int("kv_num_heads", 0) : k[1];
  const int64_t per_group = q_heads / groups;
  const int64_t queries = q[q.size() - 2];
  const int64_t keys = k[k.size() - 2];
  const int64_t size = is_packed ? q[2] / q_heads : q[3];
  AttentionParts parts;
  parts.scores = {q[0], groups, per_group, queries, keys};
  parts.query = heads_of(*node.input(0), q_heads, groups, per_group);
  parts.key = heads_of(*node.input(1), groups, groups, per_group);
  std::swap(parts.key.shape[3], parts.key.shape[4]);
  std::swap(parts.key.strides[3], parts.key.strides[4]);
  parts.value = heads_of(*node.input(2), groups, groups, per_group);
  parts.factor = attributes.get_float("scale", 1.0f / std::sqrt(static_cast<float>(size)));
  parts.zero_without_keys = true;
  parts.mask = node.input(3);
  // A shorter one is not repeated: it forbids the rest.
  if (parts.mask != nullptr &&
      (parts.mask->desc().shape.empty() || parts.mask->desc().shape.back() != keys)) {
    return;
  }
  if (attributes.get_int("is_causal", 0) != 0) {
    if (queries * keys > kMostCausal) return;
    parts.mask = model.add_constant(node.name() + "/causal", causal_mask(queries, keys));
  }
  if (parts.mask != nullptr) {
    const auto strides = attention_mask_strides(*parts.mask, {q[0], q_heads, queries, keys});
    if (!strides) return;
    parts.mask_strides = in_groups(*strides, per_group);
  }
  // Of the result as the operator wants it.
  const int64_t columns = parts.value.shape.back();
  const int64_t row = is_packed ? q_heads * columns : columns;
  const int64_t head = is_packed ? columns : queries * columns;
  parts.output_strides = {queries * q_heads * columns, per_group * head, head, row, 1};
  replace(model,
          {&node, &node, "Attention", "het", attention_inputs(parts), attention_attributes(parts)});
}

}  // namespace

Status lower_attention(Model& model) {
  for (size_t i = 0; i < model.nodes().size(); ++i) {
    Node& node = *model.nodes()[i];
    if (is_simple(model, node)) lower(model, node);
  }
  return {};
}

}  // namespace het
