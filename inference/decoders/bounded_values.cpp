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

bool makes_bounded(std::string_view type) {
  return is_one_of(type, {"Sigmoid", "HardSigmoid", "Softmax"});
}

/// Products, sums and the like, which have no bound.
bool makes_unbounded(std::string_view type) {
  return is_one_of(type, {"Mul", "Add", "Sub", "Div", "Exp", "Pow", "Conv", "MatMul", "Gemm"});
}

/// Whether all values have a bound, wherever a reshape has put them, or none; nothing where the
/// graph does not tell.
std::optional<bool> all_bounded(const Value& value, int steps) {
  const Node* node = value.producer();
  if (node == nullptr || steps == 0) return std::nullopt;
  const std::string& type = node->op_type();
  if (makes_bounded(type)) return true;
  if (makes_unbounded(type)) return false;
  if (type == "ScatterND" && node->input(0) != nullptr) {
    const std::optional<bool> before = all_bounded(*node->input(0), steps - 1);
    return before == false ? before : std::nullopt;
  }
  const bool joins = type == "Concat";
  if (!joins && !is_one_of(type, {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten",
                                  "Identity", "Slice", "Split"}))
    return std::nullopt;
  std::optional<bool> all;
  for (size_t i = 0; i < (joins ? node->inputs().size() : 1); ++i) {
    const auto part =
        node->input(i) == nullptr ? std::nullopt : all_bounded(*node->input(i), steps - 1);
    if (!part || (all && *all != *part)) return std::nullopt;
    all = part;
  }
  return all;
}

/// True for a cut, in steps of one, that has the last of the `whole` values along the axis.
bool has_the_last(const Node& node, const Value& value, size_t axis, int64_t whole) {
  if (node.op_type() == "Split") return node.outputs().back() == &value;
  const auto numbers = [&](size_t input) -> std::vector<int64_t> {
    const Value* given = node.input(input);
    if (given == nullptr || !given->is_constant() ||
        given->constant().type() != ElementType::Int64 || !given->constant().is_dense())
      return {};
    const auto values = given->constant().values<int64_t>();
    return {values.begin(), values.end()};
  };
  const std::vector<int64_t> ends = numbers(2);
  const std::vector<int64_t> axes = numbers(3);
  const std::vector<int64_t> steps = numbers(4);
  const auto rank = static_cast<int64_t>(value.desc().shape.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    const int64_t given = axes.empty() ? static_cast<int64_t>(i) : i < axes.size() ? axes[i] : -1;
    if (static_cast<size_t>(given < 0 ? given + rank : given) != axis) continue;
    return ends[i] >= whole && (i >= steps.size() || steps[i] == 1);
  }
  return false;
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
  if (makes_bounded(type)) return shape[axis];
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
    if (!before) {
      const std::optional<bool> bounded = all_bounded(*node->input(0), steps - 1);
      return bounded ? std::optional(*bounded ? shape[axis] : 0) : std::nullopt;
    }
    const auto tail = tail_of(*node->input(0), *before, steps - 1);
    if (!tail) return std::nullopt;
    const int64_t whole = node->input(0)->desc().shape[*before];
    if (whole == shape[axis]) return tail;
    // A cut: what is bounded whole stays so, what is not at all, too.
    if (*tail == whole) return shape[axis];
    if (*tail == 0) return tail;
    return has_the_last(*node, value, axis, whole) ? std::optional(std::min(*tail, shape[axis]))
                                                   : std::nullopt;
  }
  if (const Value* rest = behind_zeros(*node)) return tail_of(*rest, axis, steps - 1);
  if (type == "ScatterND" && node->input(0) != nullptr) {
    // Some values are replaced: what had no bound before is not taken for bounded.
    const auto tail = tail_of(*node->input(0), axis, steps - 1);
    return tail == 0 ? tail : std::nullopt;
  }
  if (makes_unbounded(type)) return 0;
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> bounded_tail(const Value& value, size_t axis) {
  return tail_of(value, axis, kMostJoins);
}

int64_t unbounded_tail(const Value& value, size_t axis) {
  const Value* joined = &value;
  for (int steps = 0; steps < kMostJoins; ++steps) {
    const Node* node = joined->producer();
    if (node == nullptr || node->inputs().empty() || node->input(0) == nullptr) return 0;
    const auto rank = static_cast<int64_t>(joined->desc().shape.size());
    const int64_t given = node->attributes().get_int("axis", 0);
    const bool joins = node->op_type() == "Concat";
    if (joins && static_cast<size_t>(given < 0 ? given + rank : given) == axis) {
      int64_t count = 0;
      for (size_t i = node->inputs().size(); i-- > 0;) {
        const Value* part = node->input(i);
        if (part == nullptr || axis >= part->desc().shape.size() || part->desc().shape[axis] < 0 ||
            all_bounded(*part, kMostJoins) != false)
          break;
        count += part->desc().shape[axis];
      }
      return count;
    }
    // Rows of several levels are alike.
    if (!joins && !is_one_of(node->op_type(), {"Reshape", "Transpose", "Squeeze", "Unsqueeze",
                                               "Flatten", "Identity", "Cast"}))
      return 0;
    const std::optional<size_t> before = joins ? std::optional(axis) : axis_before(*node, axis);
    if (!before) return 0;
    axis = *before;
    joined = node->input(0);
  }
  return 0;
}

}  // namespace het
