#include "inference/passes/fusions/strided_view.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/unary.h"

namespace het {
namespace {

bool is_reshape(const Node& node) {
  constexpr std::array<std::string_view, 4> kReshapes = {"Reshape", "Squeeze", "Unsqueeze",
                                                         "Flatten"};
  return std::ranges::any_of(kReshapes, [&](std::string_view type) { return is_op(&node, type); });
}

size_t axis_of(const Node& node, int64_t fallback) {
  const auto rank = static_cast<int64_t>(node.input(0)->desc().shape.size());
  const int64_t axis = node.attributes().get_int("axis", fallback);
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

/// The view behind one more node; false where it would be none.
bool apply(StridedView& view, const Node& node, const Value& output) {
  if (is_reshape(node)) return reshape_view(view, output.desc().shape);
  if (is_op(&node, "Transpose")) {
    const std::vector<int64_t> order = node.attributes().get_ints("perm");
    if (order.size() != view.shape.size()) return false;
    const StridedView old = view;
    for (size_t d = 0; d < order.size(); ++d) {
      view.shape[d] = old.shape[static_cast<size_t>(order[d])];
      view.strides[d] = old.strides[static_cast<size_t>(order[d])];
    }
    return true;
  }
  if (is_op(&node, "Split")) {
    const size_t axis = axis_of(node, 0);
    for (const Value* part : node.outputs()) {
      if (part == &output) break;
      view.offset += part->desc().shape[axis] * view.strides[axis];
    }
    view.shape[axis] = output.desc().shape[axis];
    return true;
  }
  if (is_op(&node, "Gather")) {
    const Value& index = *node.input(1);
    if (!index.is_constant() || !index.desc().shape.empty()) return false;
    const auto values = to_int64_vector(index.constant());
    const size_t axis = axis_of(node, 0);
    if (!values || (*values)[0] < -view.shape[axis] || (*values)[0] >= view.shape[axis]) {
      return false;
    }
    const int64_t at = (*values)[0] < 0 ? (*values)[0] + view.shape[axis] : (*values)[0];
    view.offset += at * view.strides[axis];
    view.shape.erase(view.shape.begin() + static_cast<std::ptrdiff_t>(axis));
    view.strides.erase(view.strides.begin() + static_cast<std::ptrdiff_t>(axis));
    return true;
  }
  const auto scaled = scaled_operand(&node);
  // A number of more dimensions would give the product more.
  if (!scaled || scaled->value != node.input(0) || output.desc().shape != view.shape) return false;
  view.factor *= scaled->factor;
  return true;
}

bool is_static(const Value& value) {
  return value.desc().is_static() && element_count(value.desc().shape) > 0;
}

}  // namespace

bool reshape_view(StridedView& view, const Shape& shape) {
  // Dimensions are taken together, from the left, until both sides have as many elements.
  Shape strides(shape.size(), 1);
  size_t from = 0;
  size_t to = 0;
  while (to < shape.size() || from < view.shape.size()) {
    int64_t old_count = from < view.shape.size() ? view.shape[from] : 1;
    int64_t new_count = to < shape.size() ? shape[to] : 1;
    const size_t first = from++;
    const size_t first_new = to++;
    while (old_count != new_count) {
      if (old_count < new_count) {
        if (from >= view.shape.size()) return false;
        old_count *= view.shape[from++];
      } else {
        if (to >= shape.size()) return false;
        new_count *= shape[to++];
      }
    }
    // The old dimensions of the group must lie behind one another.
    int64_t inner = 1;
    bool found = false;
    for (size_t d = std::min(from, view.shape.size()); d-- > first;) {
      if (view.shape[d] == 1) continue;
      if (!found) {
        inner = view.strides[d];
        found = true;
        old_count = view.shape[d];
      } else if (view.strides[d] == inner * old_count) {
        old_count *= view.shape[d];
      } else {
        return false;
      }
    }
    for (size_t d = std::min(to, shape.size()); d-- > first_new;) {
      strides[d] = inner;
      inner *= shape[d];
    }
  }
  view.shape = shape;
  view.strides = std::move(strides);
  return true;
}

StridedView whole_view(Value& value) {
  return {&value, 0, value.desc().shape, row_major_strides(value.desc().shape), 1.0f};
}

StridedView strided_view(Value& value) {
  // From the value back; a node that breaks the view on the way is where it begins.
  std::vector<Value*> way = {&value};
  while (const Node* node = way.back()->producer()) {
    Value* before = is_detached(*node) ? nullptr : node->input(0);
    if (before == nullptr || !is_static(*before) || before->is_constant()) break;
    StridedView probe = whole_view(*before);
    if (!apply(probe, *node, *way.back())) break;
    way.push_back(before);
  }
  StridedView view = whole_view(*way.back());
  for (size_t i = way.size() - 1; i-- > 0;) {
    if (!apply(view, *way[i]->producer(), *way[i])) view = whole_view(*way[i]);
  }
  return view;
}

}  // namespace het
