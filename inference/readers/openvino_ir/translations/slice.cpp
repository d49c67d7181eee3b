#include <algorithm>
#include <limits>

#include "inference/readers/openvino_ir/limits.h"
#include "inference/readers/openvino_ir/translate.h"

/// Cutting parts out of tensors, padding, and turning them around.
namespace het::ir {
namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
constexpr int64_t kLast = std::numeric_limits<int64_t>::max();

/// A mask of StridedSlice, one entry per position; what the file leaves out is 0.
std::vector<bool> mask(LayerContext& context, std::string_view name, size_t count) {
  std::vector<bool> result(count, false);
  const std::vector<int64_t> values = context.integers(name);
  for (size_t i = 0; i < std::min(count, values.size()); ++i) result[i] = values[i] != 0;
  return result;
}

/// What the positions of begin, end and strides mean, with masks resolved.
struct SlicePlan {
  std::vector<int64_t> axes;      ///< dimension of the input, per cut
  std::vector<size_t> positions;  ///< position in begin and end, per cut
  std::vector<int64_t> removed;   ///< dimensions of the input that vanish
  std::vector<int64_t> inserted;  ///< dimensions of the result that are new
};

SlicePlan plan_slices(LayerContext& context, size_t count, int64_t rank) {
  const auto added = mask(context, "new_axis_mask", count);
  const auto shrunk = mask(context, "shrink_axis_mask", count);
  const auto ellipsis = mask(context, "ellipsis_mask", count);
  const auto consumed = [&](size_t from) {
    int64_t dims = 0;
    for (size_t i = from; i < count; ++i) dims += !added[i] && !ellipsis[i];
    return dims;
  };
  SlicePlan plan;
  int64_t axis = 0;
  int64_t result_axis = 0;
  for (size_t i = 0; i < count; ++i) {
    if (ellipsis[i]) {
      const int64_t skipped = std::max<int64_t>(0, rank - axis - consumed(i + 1));
      axis += skipped;
      result_axis += skipped;
    } else if (added[i]) {
      plan.inserted.push_back(result_axis++);
    } else {
      plan.axes.push_back(axis);
      plan.positions.push_back(i);
      if (shrunk[i]) {
        plan.removed.push_back(axis);
      } else {
        ++result_axis;
      }
      ++axis;
    }
  }
  return plan;
}

/// Picks entries of begin, end or strides; `open` ones get `fallback` where the value is computed.
Value* picked(LayerContext& context, Value* list, const std::vector<size_t>& positions,
              const std::vector<bool>& open, const std::vector<int64_t>& fallback) {
  std::vector<int64_t> indices(positions.begin(), positions.end());
  Value* const values = context.add(
      "Gather", {context.integer_list(list), context.integers_constant("positions", indices)});
  const auto count = static_cast<int64_t>(positions.size());
  Tensor which = *Tensor::allocate({ElementType::Bool, {count}});
  for (size_t i = 0; i < positions.size(); ++i) which.data<bool>()[i] = open[positions[i]];
  return context.add("Where", {context.constant("open", std::move(which)),
                               context.integers_constant("bounds", fallback), values});
}

/// The ends, but one behind a computed start where a dimension is removed: the last element's end
/// is the greatest number.
Value* behind_removed(LayerContext& context, Value* from, Value* to, const SlicePlan& plan,
                      const std::vector<bool>& shrunk) {
  const auto count = static_cast<int64_t>(plan.positions.size());
  Tensor which = *Tensor::allocate({ElementType::Bool, {count}});
  for (size_t i = 0; i < plan.positions.size(); ++i) {
    which.data<bool>()[i] = shrunk[plan.positions[i]];
  }
  Value* const next = context.add("Add", {from, context.integers_constant("one", {1})});
  Value* const is_last = context.add("Equal", {from, context.integers_constant("minus_one", {-1})});
  Value* const end =
      context.add("Where", {is_last, context.integers_constant("last", {kLast}), next});
  return context.add("Where", {context.constant("removed_ends", std::move(which)), end, to});
}

/// Slice, then Squeeze for shrink_axis_mask, then Unsqueeze for new_axis_mask. A mask of 1 means
/// that begin or end is ignored.
void strided_slice(LayerContext& context) {
  const int64_t rank = context.input_rank(0);
  const Shape& positions = context.input_shape(1);
  const auto begin = context.constant_integers(1);
  const size_t count = begin ? begin->size()
                       : positions.size() == 1 && positions[0] >= 0 && positions[0] <= 64
                           ? static_cast<size_t>(positions[0])
                           : 0;
  if ((!begin && positions.size() != 1) || count > 64) {
    return context.refuse("StridedSlice with an unknown number of positions is not supported");
  }
  const SlicePlan plan = plan_slices(context, count, rank);
  if (static_cast<int64_t>(plan.axes.size()) > rank) {
    return context.fail(Status(
        StatusCode::ParseError,
        fmt::format("it cuts {} dimensions of an input that has {}", plan.axes.size(), rank)));
  }
  std::vector<int64_t> strides(count, 1);
  if (context.has_input(3)) {
    strides = context.required_integers(3, "strides");
    if (!context.refusal().empty()) return;
    strides.resize(count, 1);
  }
  const auto begin_open = mask(context, "begin_mask", count);
  auto end_open = mask(context, "end_mask", count);
  // A dimension that shrinks takes one element from begin on, whatever end and the masks say.
  const auto shrunk = mask(context, "shrink_axis_mask", count);
  const auto end = context.constant_integers(2);
  std::vector<int64_t> starts;
  std::vector<int64_t> ends;
  std::vector<int64_t> steps;
  for (const size_t i : plan.positions) {
    const bool back = strides[i] < 0;
    steps.push_back(shrunk[i] ? 1 : strides[i]);
    starts.push_back(back && !shrunk[i] ? kLast : 0);
    ends.push_back(back && !shrunk[i] ? kFirst : kLast);
    if (begin && !begin_open[i]) starts.back() = (*begin)[i];
    if (end && i < end->size() && !end_open[i]) ends.back() = (*end)[i];
    if (begin && shrunk[i]) {
      if (begin_open[i]) starts.back() = 0;
      const bool at_end = starts.back() == -1 || starts.back() == kLast;
      ends.back() = at_end ? kLast : starts.back() + 1;
    }
  }
  Value* result = context.input(0);
  if (!plan.axes.empty()) {
    Value* from = context.integers_constant("starts", starts);
    Value* to = context.integers_constant("ends", ends);
    if (!begin || !end) {
      if (!begin) from = picked(context, context.input(1), plan.positions, begin_open, starts);
      if (!end) {
        for (const size_t i : plan.positions) end_open[i] = end_open[i] || shrunk[i];
        to = picked(context, context.input(2), plan.positions, end_open, ends);
      }
      if (!begin && !plan.removed.empty()) to = behind_removed(context, from, to, plan, shrunk);
    }
    result = context.add("Slice", {result, from, to, context.integers_constant("axes", plan.axes),
                                   context.integers_constant("steps", steps)});
  }
  if (!plan.removed.empty()) {
    result = context.add("Squeeze", {result, context.integers_constant("removed", plan.removed)});
  }
  if (!plan.inserted.empty()) result = context.unsqueezed(result, plan.inserted);
  // The last of the nodes would do; one more that passes on keeps the layer's name in one place.
  context.finish("Identity", {result});
}

/// Inputs: data, start, stop, step, axes.
void slice(LayerContext& context) {
  Value* const axes = context.has_input(4) ? context.integer_list(context.input(4)) : nullptr;
  context.finish("Slice", {context.input(0), context.integer_list(context.input(1)),
                           context.integer_list(context.input(2)), axes,
                           context.integer_list(context.input(3))});
}

/// Mirrors with the border itself, one dimension after the other.
void pad_symmetrically(LayerContext& context) {
  const std::vector<int64_t> begin = context.required_integers(1, "pads_begin");
  const std::vector<int64_t> end = context.required_integers(2, "pads_end");
  if (!context.refusal().empty()) return;
  const Shape& x = context.input_shape(0);
  if (begin.size() != x.size() || end.size() != x.size()) {
    return context.fail(Status(StatusCode::ParseError,
                               fmt::format("it has {} and {} pads for an input of {} dimensions",
                                           begin.size(), end.size(), x.size())));
  }
  Value* value = context.input(0);
  const auto part = [&](Value* whole, size_t axis, int64_t from, int64_t to, int64_t step) {
    return context.add("Slice", {whole, context.integers_constant("from", {from}),
                                 context.integers_constant("to", {to}),
                                 context.integers_constant("axis", {static_cast<int64_t>(axis)}),
                                 context.integers_constant("step", {step})});
  };
  for (size_t i = 0; i < x.size(); ++i) {
    for (const int64_t width : {begin[i], end[i]}) {
      if (width < 0 || (x[i] != kUnknownDim && width > x[i])) {
        return context.refuse(fmt::format(
            "Pad in mode symmetric by {} of a dimension of {} is not supported", width, x[i]));
      }
    }
    std::vector<Value*> parts{value};
    if (begin[i] > 0) parts.insert(parts.begin(), part(value, i, begin[i] - 1, kFirst, -1));
    if (end[i] > 0) parts.push_back(part(value, i, -1, -end[i] - 1, -1));
    if (parts.size() == 1) continue;
    value = context.add("Concat", std::move(parts), with("axis", static_cast<int64_t>(i)));
  }
  context.finish("Identity", {value});
}

void pad(LayerContext& context) {
  const std::string mode = context.text("pad_mode", "constant");
  if (mode == "symmetric") return pad_symmetrically(context);
  if (mode != "constant" && mode != "edge" && mode != "reflect") {
    return context.refuse(fmt::format("Pad in mode {} is not supported", mode));
  }
  Value* const pads = context.add(
      "Concat", {context.integer_list(context.input(1)), context.integer_list(context.input(2))},
      with("axis", int64_t{0}));
  Value* const fill = mode == "constant" && context.has_input(3) ? context.input(3) : nullptr;
  context.finish("Pad", {context.input(0), pads, fill}, with("mode", mode));
}

/// In mode mask, input 1 has a flag per dimension.
void reverse(LayerContext& context) {
  std::vector<int64_t> axes = context.required_integers(1, "axes");
  if (context.text("mode", "index") == "mask") {
    const std::vector<int64_t> flags = std::move(axes);
    axes.clear();
    for (size_t i = 0; i < flags.size(); ++i) {
      if (flags[i] != 0) axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (!context.refusal().empty()) return;
  if (axes.empty()) return context.finish("Identity", {context.input(0)});
  context.finish("Slice",
                 {context.input(0),
                  context.integers_constant("starts", std::vector<int64_t>(axes.size(), kLast)),
                  context.integers_constant("ends", std::vector<int64_t>(axes.size(), kFirst)),
                  context.integers_constant("axes", axes),
                  context.integers_constant("steps", std::vector<int64_t>(axes.size(), -1))});
}

/// ONNX has batch and time in the first two dimensions: they are moved there and back.
void reverse_sequence(LayerContext& context) {
  const int64_t rank = std::max<int64_t>(1, context.input_rank(0));
  const int64_t batch = context.normalized(context.integer("batch_axis", 0), rank);
  const int64_t time = context.normalized(context.integer("seq_axis", 1), rank);
  Value* const lengths = context.integer_list(context.input(1));
  if (batch == time) {
    return context.fail(
        Status(StatusCode::ParseError, fmt::format("batch_axis and seq_axis are both {}", batch)));
  }
  if (batch < 2 && time < 2) {
    Attributes attributes = with("batch_axis", batch);
    attributes.set("time_axis", time);
    return context.finish("ReverseSequence", {context.input(0), lengths}, std::move(attributes));
  }
  std::vector<int64_t> order{batch, time};
  for (int64_t i = 0; i < rank; ++i) {
    if (i != batch && i != time) order.push_back(i);
  }
  std::vector<int64_t> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  }
  Attributes attributes = with("batch_axis", int64_t{0});
  attributes.set("time_axis", int64_t{1});
  Value* const reversed =
      context.add("ReverseSequence", {context.transposed(context.input(0), order), lengths},
                  std::move(attributes));
  context.finish("Transpose", {reversed}, with("perm", back));
}

/// Elements move `shift` places to the end of an axis; the last ones come first. The cut lies where
/// -shift modulo the size says.
void roll(LayerContext& context) {
  const std::vector<int64_t> axes = context.required_integers(2, "axes");
  if (!context.refusal().empty()) return;
  const int64_t rank = context.input_rank(0);
  const Shape& shifts = context.input_shape(1);
  // An axis may come twice, but each one costs nodes.
  if (rank == 0 || axes.size() > kMaxRank ||
      (shifts != Shape{} && shifts != Shape{1} &&
       shifts != Shape{static_cast<int64_t>(axes.size())})) {
    return context.fail(Status(
        StatusCode::ParseError,
        fmt::format("it has shifts of shape {} for {} axes of an input of rank {}; at most {} axes",
                    to_string(shifts), axes.size(), rank, kMaxRank)));
  }
  Value* const list = context.integer_list(context.input(1));
  const bool one = shifts != Shape{static_cast<int64_t>(axes.size())} || axes.size() == 1;
  Value* value = context.input(0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t axis = context.normalized(axes[i], rank);
    Value* const at = context.integers_constant("at", {one ? 0 : static_cast<int64_t>(i)});
    Value* const shift = context.add("Gather", {list, at});
    Attributes dimension = with("start", axis);
    dimension.set("end", axis + 1);
    Value* const size = context.add("Shape", {value}, std::move(dimension));
    // Not 0, by which nothing can be divided.
    Value* const divisor = context.add("Max", {size, context.integers_constant("one", {1})});
    Value* const cut = context.add("Mod", {context.add("Neg", {shift}), divisor});
    const auto part = [&](Value* from, Value* to) {
      return context.add("Slice", {value, from, to, context.integers_constant("axis", {axis})});
    };
    Value* const back = part(cut, context.integers_constant("last", {kLast}));
    Value* const front = part(context.integers_constant("first", {0}), cut);
    value = context.add("Concat", {back, front}, with("axis", axis));
  }
  context.finish("Identity", {value});
}

constexpr Translation kSliceTable[] = {
    {"StridedSlice", strided_slice},       {"Slice", slice}, {"Pad", pad}, {"Reverse", reverse},
    {"ReverseSequence", reverse_sequence}, {"Roll", roll},
};

}  // namespace

std::span<const Translation> slice_translations() {
  return kSliceTable;
}

}  // namespace het::ir
