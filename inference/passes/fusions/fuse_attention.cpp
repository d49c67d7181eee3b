#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "inference/passes/fusions/attention_parts.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"
#include "inference/passes/fusions/unary.h"

namespace het {
namespace {

bool is_matrix(const Value& value) {
  const TensorDesc& desc = value.desc();
  return desc.type == ElementType::Float32 && desc.is_static() && desc.shape.size() >= 2 &&
         element_count(desc.shape) > 0;
}

/// What is added to scores, and their shape there.
struct Added {
  Value* mask = nullptr;
  Shape scores;
};

/// Softmax(query * key * factor + mask) * value.
struct Attention {
  Node* softmax = nullptr;
  Node* scores = nullptr;   ///< MatMul of query and key
  Node* product = nullptr;  ///< MatMul with the value
  Value* value = nullptr;
  std::vector<Added> masks;
  float factor = 1.0f;
  bool zero_for_nan = false;
  AttentionSteps weights_steps;
  bool is_turned = false;  ///< the product is that of columns and queries
};

/// Sums of so many products of bytes fit in 32 bits.
constexpr int64_t kMostProductsOfBytes = 16384;

/// The node before `value`, which reads it alone.
Node* only_producer(const Model& model, const Value& value) {
  Node* node = value.producer();
  return node != nullptr && only_reader(model, value) != nullptr ? node : nullptr;
}

/// What Where(IsNaN(weights), 0, weights) gives where nothing else reads the weights, as exporters
/// write it for rows without keys; else null.
Value* without_nan(const Model& model, const Value& weights) {
  const std::vector<Node*>& readers = weights.consumers();
  if (readers.size() != 2) return nullptr;
  const size_t first = is_op(readers[0], "IsNaN") ? 0 : 1;
  const Node* test = readers[first];
  Node* choice = readers[1 - first];
  if (!is_op(test, "IsNaN") || !is_op(choice, "Where") || choice->input(2) != &weights ||
      choice->input(0) != test->output() || only_reader(model, *test->output()) != choice ||
      choice->output()->desc().shape != weights.desc().shape) {
    return nullptr;
  }
  const Value& other = *choice->input(1);
  const bool is_zero = other.is_constant() && other.desc().type == ElementType::Float32 &&
                       std::ranges::all_of(other.constant().values<float>(),
                                           [](float number) { return number == 0.0f; });
  const bool shown = std::ranges::any_of(
      model.outputs(), [&](const ModelOutput& output) { return output.value == &weights; });
  return is_zero && !shown ? choice->output() : nullptr;
}

/// What QuantizeLinear and DequantizeLinear of one step make of the weights, where nothing else
/// reads them; else null.
Value* rounded_weights(const Model& model, const Value& weights, AttentionSteps& steps) {
  const std::optional<StoredValue> stored = stored_by(only_reader(model, weights));
  const Node* back = stored ? only_reader(model, *stored->stored) : nullptr;
  if (back == nullptr || !back->output()->desc().is_static()) return nullptr;
  const std::optional<StoredValue> read = stored_behind(*back->output());
  if (!read || read->stored != stored->stored || !same_steps(*read, *stored)) return nullptr;
  steps = {stored->scale, stored->zero + (stored->type() == ElementType::Int8 ? 128 : 0)};
  return back->output();
}

/// How much a value that is added to another one looks like scores.
int score_likeness(const Value& value) {
  const Node* node = value.producer();
  if (is_op(node, "MatMul") || scaled_operand(node)) return 2;
  return is_op(node, "Add") || is_op(node, "Reshape") ? 1 : 0;
}

/// True for a Reshape of matrices that stay what they are.
bool keeps_matrices(const Node& reshape) {
  const TensorDesc& from = reshape.input(0)->desc();
  const TensorDesc& to = reshape.output()->desc();
  return from.is_static() && to.is_static() && from.shape.size() >= 2 && to.shape.size() >= 2 &&
         std::equal(from.shape.end() - 2, from.shape.end(), to.shape.end() - 2);
}

/// True for a Transpose of the last two dimensions.
bool turns_matrices(const Node& transpose) {
  std::vector<int64_t> order = transpose.attributes().get_ints("perm");
  if (order.size() < 2) return false;
  std::swap(order[order.size() - 2], order.back());
  for (size_t d = 0; d < order.size(); ++d) {
    if (order[d] != static_cast<int64_t>(d)) return false;
  }
  return true;
}

/// Finds the product that reads the weights, or their columns.
bool find_product(const Model& model, const Value& weights, Attention& found) {
  Node* reader = only_reader(model, weights);
  const Value* read = &weights;
  if (is_op(reader, "Transpose") && turns_matrices(*reader)) {
    found.is_turned = true;
    read = reader->output();
    reader = only_reader(model, *read);
  }
  const size_t side = found.is_turned ? 1 : 0;
  if (!is_op(reader, "MatMul") || reader->input(side) != read) return false;
  found.product = reader;
  found.value = reader->input(1 - side);
  return true;
}

std::optional<Attention> attention_of(const Model& model, Node& softmax, bool bytes) {
  if (!is_op(&softmax, "Softmax")) return std::nullopt;
  const Value* weights = softmax.output();
  const auto rank = static_cast<int64_t>(weights->desc().shape.size());
  const int64_t axis = softmax.attributes().get_int("axis", -1);
  if (axis != -1 && axis != rank - 1) return std::nullopt;
  Attention found{.softmax = &softmax};
  if (const Value* chosen = without_nan(model, *weights)) {
    weights = chosen;
    found.zero_for_nan = true;
  }
  if (bytes) {
    const Value* rounded = rounded_weights(model, *weights, found.weights_steps);
    if (rounded != nullptr) weights = rounded;
  }
  if (!find_product(model, *weights, found)) return std::nullopt;

  Node* before = only_producer(model, *softmax.input(0));
  while (before != nullptr) {
    if (is_op(before, "Add")) {
      const bool second = score_likeness(*before->input(1)) > score_likeness(*before->input(0));
      const size_t scores = second ? 1 : 0;
      found.masks.push_back({before->input(1 - scores), before->output()->desc().shape});
      before = only_producer(model, *before->input(scores));
    } else if (is_op(before, "Reshape") && keeps_matrices(*before)) {
      before = only_producer(model, *before->input(0));
    } else {
      break;
    }
  }
  if (const auto scaled = scaled_operand(before)) {
    found.factor = scaled->factor;
    before = only_producer(model, *scaled->value);
  }
  if (!is_op(before, "MatMul")) return std::nullopt;
  found.scores = before;
  return found;
}

/// The sum of constant masks over all scores; a null tensor where they are none or too many values.
Tensor sum_of_masks(const std::vector<Added>& masks, const Shape& scores) {
  constexpr int64_t kMostValues = 4 << 20;
  const int64_t count = element_count(scores);
  if (count > kMostValues) return {};
  std::vector<float> sums(static_cast<size_t>(count), 0.0f);
  for (const Added& added : masks) {
    const Value& mask = *added.mask;
    if (!mask.is_constant()) return {};
    const auto strides = attention_mask_strides(mask, added.scores);
    if (!strides || element_count(added.scores) != count) return {};
    const std::span<const float> values = mask.constant().values<float>();
    for (int64_t i = 0; i < count; ++i) {
      int64_t rest = i;
      int64_t at = 0;
      for (size_t d = strides->size(); d-- > 0; rest /= added.scores[d]) {
        at += rest % added.scores[d] * (*strides)[d];
      }
      sums[static_cast<size_t>(i)] += values[static_cast<size_t>(at)];
    }
  }
  return Tensor::from<float>(scores, sums);
}

/// Sets the mask of the parts to what is added; false where that cannot be said.
bool set_mask(Model& model, const Attention& found, AttentionParts& parts) {
  if (found.masks.empty()) return true;
  parts.mask = found.masks.front().mask;
  if (found.masks.size() > 1 || found.masks.front().scores != parts.scores) {
    Tensor sum = sum_of_masks(found.masks, parts.scores);
    if (sum.empty()) return false;
    parts.mask = model.add_constant(found.softmax->name() + "/mask", std::move(sum));
  }
  const auto strides = attention_mask_strides(*parts.mask, parts.scores);
  if (strides) parts.mask_strides = *strides;
  return strides.has_value();
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

/// The view with the last two dimensions turned.
StridedView turned(StridedView view) {
  std::swap(view.shape[view.shape.size() - 2], view.shape.back());
  std::swap(view.strides[view.strides.size() - 2], view.strides.back());
  return view;
}

/// Attention gives rows, which a Transpose behind it turns.
Node* replace_turned(Model& model, const Attention& found, const AttentionParts& parts,
                     Attributes attributes) {
  Shape shape = found.product->output()->desc().shape;
  std::vector<int64_t> order(shape.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[order.size() - 2], order.back());
  std::swap(shape[shape.size() - 2], shape.back());
  Node* rows = model.add_node(found.scores->name(), "Attention", "het", attention_inputs(parts),
                              {found.product->output()->name() + "/rows"}, std::move(attributes));
  model.set_desc(rows->output(), {ElementType::Float32, shape});
  rows->set_affinity(found.scores->affinity());
  rows->add_original_names(found.scores->original_names());
  Attributes turn;
  turn.set("perm", order);
  replace(model, {found.product, found.product, "Transpose", "", {rows->output()}, turn});
  detach(model, *found.scores);
  return rows;
}

/// A view of the bytes that the value is made of, whose steps are told; else of the value.
StridedView view_of(Value& value, const std::optional<StoredValue>& stored, AttentionSteps& steps) {
  if (!stored) return strided_view(value);
  steps = {stored->scale, stored->zero};
  return strided_view(*stored->stored);
}

std::optional<StoredValue> bytes_of(const Value& value) {
  std::optional<StoredValue> stored = stored_behind(value);
  return stored && !stored->stored->is_constant() ? stored : std::nullopt;
}

/// Operands as bytes where both of a product are, and the device multiplies those.
void set_operands(const Attention& found, bool bytes, AttentionParts& parts) {
  Value& query = *found.scores->input(0);
  Value& key = *found.scores->input(1);
  std::optional<StoredValue> query_bytes, key_bytes, value_bytes;
  if (bytes && query.desc().shape.back() <= kMostProductsOfBytes) {
    query_bytes = bytes_of(query);
    key_bytes = bytes_of(key);
    if (!query_bytes || !key_bytes) query_bytes = key_bytes = std::nullopt;
  }
  if (found.weights_steps.scale != 0.0f && parts.scores.back() <= kMostProductsOfBytes) {
    value_bytes = bytes_of(*found.value);
  }
  parts.query = view_of(query, query_bytes, parts.query_steps);
  parts.key = view_of(key, key_bytes, parts.key_steps);
  parts.value = view_of(*found.value, value_bytes, parts.value_steps);
}

void fuse(Model& model, const Attention& found, bool bytes) {
  Value& query = *found.scores->input(0);
  Value& key = *found.scores->input(1);
  Value& value = *found.value;
  const Shape& scores = found.scores->output()->desc().shape;
  if (!is_matrix(query) || !is_matrix(key) || !is_matrix(value) || !have_same_batch(query, key) ||
      !have_same_batch(query, value) || key.is_constant() || value.is_constant() ||
      found.softmax->output()->desc().shape != scores) {
    return;
  }
  AttentionParts parts;
  parts.scores = scores;
  parts.weights_steps = found.weights_steps;
  parts.factor = found.factor;
  parts.zero_for_nan = found.zero_for_nan;
  set_operands(found, bytes, parts);
  if (!set_mask(model, found, parts)) return;
  Node* last = found.product;
  Node* made = nullptr;
  if (found.is_turned) {
    parts.value = turned(parts.value);
    Shape rows = last->output()->desc().shape;
    std::swap(rows[rows.size() - 2], rows.back());
    parts.output_strides = row_major_strides(rows);
    made = replace_turned(model, found, parts, attention_attributes(parts));
  } else {
    parts.output_strides = row_major_strides(last->output()->desc().shape);
    if (Node* reader = only_reader(model, *last->output()); is_op(reader, "Transpose")) {
      if (const auto strides = transposed_strides(*reader)) {
        parts.output_strides = *strides;
        last = reader;
      }
    }
    made = replace(model, {found.scores, last, "Attention", "het", attention_inputs(parts),
                           attention_attributes(parts)});
  }
  made->add_original_names(found.softmax->original_names());
  made->add_original_names(found.product->original_names());
}

void fuse_all(Model& model, bool bytes) {
  for (size_t i = 0; i < model.nodes().size(); ++i) {
    const auto found = attention_of(model, *model.nodes()[i], bytes);
    if (found) fuse(model, *found, bytes);
  }
}

}  // namespace

Status fuse_attention(Model& model) {
  fuse_all(model, false);
  return {};
}

Status fuse_byte_attention(Model& model) {
  fuse_all(model, true);
  return {};
}

}  // namespace het
