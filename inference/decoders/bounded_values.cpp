#include "inference/decoders/bounded_values.h"

#include <algorithm>
#include <numeric>
#include <string_view>

namespace het {
namespace {

constexpr int kMostJoins = 64;

bool is_one_of(std::string_view type, std::initializer_list<std::string_view> types) {
  return std::ranges::find(types, type) != types.end();
}

/// A sum with zeros, as exports of torch.full_like(x, 0) have it: what is summed with them.
const Value* behind_zeros(const Node& node) {
  const auto are_zeros = [](const Value* value) {
    if (value == nullptr || !value->is_constant()) return false;
    const Tensor& tensor = value->constant();
    if (tensor.type() != ElementType::Float32 || !tensor.is_dense()) return false;
    return std::ranges::all_of(tensor.values<float>(), [](float item) { return item == 0.0f; });
  };
  if (node.op_type() != "Add") return nullptr;
  for (const size_t i : {0, 1}) {
    const Value* other = node.input(1 - i);
    if (are_zeros(node.input(i)) && other != nullptr &&
        other->desc().shape == node.output()->desc().shape)
      return other;
  }
  return nullptr;
}

/// The axis of a node's first input that becomes `axis` of its output; nothing where none does.
std::optional<size_t> axis_before(const Node& node, size_t axis) {
  const Shape& from = node.input(0)->desc().shape;
  const Shape& to = node.output()->desc().shape;
  const std::string& type = node.op_type();
  if (type == "Transpose") {
    std::vector<int64_t> order = node.attributes().get_ints("perm");
    if (order.empty()) {
      order.resize(from.size());
      std::iota(order.rbegin(), order.rend(), 0);
    }
    return axis < order.size() ? std::optional(static_cast<size_t>(order[axis])) : std::nullopt;
  }
  if (from.size() == to.size() && !is_one_of(type, {"Reshape"})) return axis;
  if (from.empty() || axis >= to.size()) return std::nullopt;
  // A reshape keeps what stands last, or second behind the batch.
  if (axis + 1 == to.size() && from.back() == to.back()) return from.size() - 1;
  if (axis == 1 && from.size() > 1 && from[0] == to[0] && from[1] == to[1]) return 1;
  return std::nullopt;
}

std::optional<int64_t> tail_of(const Value& value, size_t axis, int steps);

/// Of values that are joined along the axis: those at the end count until one is not bounded whole.
std::optional<int64_t> tail_of_joined(const Node& node, size_t axis, int steps) {
  int64_t count = 0;
  for (size_t i = node.inputs().size(); i-- > 0;) {
    const Value* part = node.input(i);
    if (part == nullptr || axis >= part->desc().shape.size()) return std::nullopt;
    const std::optional<int64_t> tail = tail_of(*part, axis, steps);
    if (!tail) return std::nullopt;
    count += *tail;
    if (*tail < part->desc().shape[axis]) break;
  }
  return count;
}

std::optional<int64_t> tail_of(const Value& value, size_t axis, int steps) {
  const Node* node = value.producer();
  const Shape& shape = value.desc().shape;
  if (node == nullptr || steps == 0 || axis >= shape.size() || shape[axis] < 0) return std::nullopt;
  const std::string& type = node->op_type();
  if (is_one_of(type, {"Sigmoid", "HardSigmoid", "Softmax"})) return shape[axis];
  if (type == "Concat") {
    const auto rank = static_cast<int64_t>(shape.size());
    const int64_t given = node->attributes().get_int("axis", 0);
    if (static_cast<size_t>(given < 0 ? given + rank : given) == axis)
      return tail_of_joined(*node, axis, steps - 1);
    // Rows of several levels: what all of them have.
    std::optional<int64_t> least;
    for (const Value* part : node->inputs()) {
      const auto tail = part == nullptr ? std::nullopt : tail_of(*part, axis, steps - 1);
      if (!tail) return std::nullopt;
      least = std::min(least.value_or(*tail), *tail);
    }
    return least;
  }
  if (is_one_of(type, {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Identity",
                       "Cast", "Slice", "Split"})) {
    const auto before = axis_before(*node, axis);
    if (!before) return std::nullopt;
    const auto tail = tail_of(*node->input(0), *before, steps - 1);
    if (!tail) return std::nullopt;
    const int64_t whole = node->input(0)->desc().shape[*before];
    if (whole == shape[axis]) return tail;
    // A cut: what is bounded whole stays so, what is not at all, too.
    if (*tail == whole) return shape[axis];
    return *tail == 0 ? tail : std::nullopt;
  }
  if (const Value* rest = behind_zeros(*node)) return tail_of(*rest, axis, steps - 1);
  if (type == "ScatterND" && node->input(0) != nullptr) {
    // Some values are replaced: what had no bound before is not taken for bounded.
    const auto tail = tail_of(*node->input(0), axis, steps - 1);
    return tail == 0 ? tail : std::nullopt;
  }
  // Products, sums and the like, which have no bound.
  if (is_one_of(type, {"Mul", "Add", "Sub", "Div", "Exp", "Pow", "Conv", "MatMul", "Gemm"}))
    return 0;
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> bounded_tail(const Value& value, size_t axis) {
  return tail_of(value, axis, kMostJoins);
}

}  // namespace het
