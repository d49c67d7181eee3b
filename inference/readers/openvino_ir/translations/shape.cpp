#include <algorithm>

#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/translate.h"

/// Shapes: rearranging, joining and cutting tensors, and computing with their sizes.
namespace het::ir {
namespace {

/// special_zero copies the dimension at the same place, as ONNX does without allowzero.
void reshape(LayerContext& context) {
  Attributes attributes;
  if (!context.flag("special_zero", false)) attributes.set("allowzero", int64_t{1});
  context.finish("Reshape", {context.input(0), context.integer_list(context.input(1))},
                 std::move(attributes));
}

/// An empty order reverses the dimensions, as ONNX does without perm.
void transpose(LayerContext& context) {
  const std::vector<int64_t> order = context.required_integers(1, "an order");
  Attributes attributes;
  if (!order.empty()) attributes.set("perm", order);
  context.finish("Transpose", {context.input(0)}, std::move(attributes));
}

/// With allow_axis_skip (opset 15) dimensions other than 1 stay.
void squeeze(LayerContext& context) {
  const Shape& x = context.input_shape(0);
  if (context.flag("allow_axis_skip", false) && context.has_input(1)) {
    std::vector<int64_t> removed;
    for (const int64_t axis : context.required_integers(1, "axes")) {
      const int64_t at = context.normalized(axis, std::max<int64_t>(1, context.input_rank(0)));
      const int64_t size = x.empty() ? kUnknownDim : x[static_cast<size_t>(at)];
      if (size == kUnknownDim) {
        return context.refuse(
            "Squeeze with allow_axis_skip of a dimension of unknown size is not supported");
      }
      if (size == 1) removed.push_back(at);
    }
    if (removed.empty()) return context.finish("Identity", {context.input(0)});
    return context.finish("Squeeze",
                          {context.input(0), context.integers_constant("removed", removed)});
  }
  context.finish("Squeeze", {context.input(0), context.integer_list(context.input(1))});
}

void unsqueeze(LayerContext& context) {
  context.finish("Unsqueeze", {context.input(0), context.integer_list(context.input(1))});
}

void concat(LayerContext& context) {
  std::vector<Value*> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) inputs.push_back(context.input(i));
  context.finish("Concat", std::move(inputs), with("axis", context.integer("axis", 0)));
}

/// The axis of a Split; nullopt after a refusal.
std::optional<int64_t> split_axis(LayerContext& context) {
  const std::vector<int64_t> axis = context.required_integers(1, "an axis");
  if (axis.size() == 1) return axis[0];
  context.refuse(fmt::format("its axis has {} numbers instead of one", axis.size()));
  return std::nullopt;
}

void split(LayerContext& context) {
  const auto axis = split_axis(context);
  if (!axis) return;
  const int64_t parts = context.integer("num_splits", 0);
  if (parts != static_cast<int64_t>(context.output_count())) {
    return context.fail(Status(
        StatusCode::ParseError,
        fmt::format("num_splits is {}, but it has {} outputs", parts, context.output_count())));
  }
  Attributes attributes = with("axis", *axis);
  attributes.set("num_outputs", parts);
  context.finish("Split", {context.input(0)}, std::move(attributes));
}

/// One length may be -1: what the others leave over of the dimension.
void variadic_split(LayerContext& context) {
  const auto axis = split_axis(context);
  if (!axis) return;
  Value* lengths = context.integer_list(context.input(2));
  const auto values = context.constant_integers(2);
  const auto rests = values ? std::count(values->begin(), values->end(), -1) : 1;
  if (rests > 1) {
    return context.fail(Status(StatusCode::ParseError,
                               fmt::format("{} of its lengths are -1, only one may be", rests)));
  }
  if (rests == 1) {
    const auto number = [&](int64_t value) { return context.integers_constant("number", {value}); };
    Value* const is_rest = context.add("Equal", {lengths, number(-1)});
    Value* const known = context.add("Where", {is_rest, number(0), lengths});
    Value* const size =
        context.add("Gather", {context.add("Shape", {context.input(0)}), number(*axis)});
    Value* const rest = context.add("Sub", {size, context.add("ReduceSum", {known})});
    lengths = context.add("Where", {is_rest, rest, lengths});
  }
  context.finish("Split", {context.input(0), lengths}, with("axis", *axis));
}

void shape_of(LayerContext& context) {
  const ElementType type = context.type("output_type", "i64");
  if (type == ElementType::Int64) return context.finish("Shape", {context.input(0)});
  context.finish("Cast", {context.add("Shape", {context.input(0)})},
                 with("to", onnx_type_code(type)));
}

/// Modes numpy and bidirectional are ONNX' Expand. In mode explicit, input 2 says which dimension
/// of the result each dimension of the data is.
void broadcast(LayerContext& context) {
  Value* data = context.input(0);
  Value* const shape = context.integer_list(context.input(1));
  const std::string mode = context.text("mode", "numpy");
  if (mode == "pdpd") return context.refuse("Broadcast in mode pdpd is not supported");
  if (mode == "explicit") {
    if (!context.has_input(2)) {
      return context.fail(
          Status(StatusCode::ParseError, "it has no axes_mapping, which mode explicit needs"));
    }
    const std::vector<int64_t> mapping = context.required_integers(2, "an axes mapping");
    const Shape& target = context.input_shape(1);
    if (target.size() != 1 || target[0] < 0 || target[0] > 64 ||
        !std::is_sorted(mapping.begin(), mapping.end())) {
      return context.refuse(
          "Broadcast in mode explicit needs a target of known rank and axes in ascending order");
    }
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < target[0]; ++i) {
      if (std::find(mapping.begin(), mapping.end(), i) == mapping.end()) axes.push_back(i);
    }
    if (!axes.empty()) data = context.unsqueezed(data, axes);
  }
  context.finish("Expand", {data, shape});
}

/// Repeats and dimensions are aligned at the end; what is missing in front is 1.
void tile(LayerContext& context) {
  Value* data = context.input(0);
  Value* repeats = context.integer_list(context.input(1));
  const int64_t rank = context.input_rank(0);
  const Shape& shape = context.input_shape(1);
  const int64_t count = shape.size() == 1 ? shape[0] : rank;
  if (count < 0 || count > 64) return context.refuse("Tile with repeats of unknown number");
  if (count < rank) {
    Value* const ones = context.integers_constant(
        "ones", std::vector<int64_t>(static_cast<size_t>(rank - count), 1));
    repeats = context.add("Concat", {ones, repeats}, with("axis", int64_t{0}));
  } else if (count > rank) {
    std::vector<int64_t> axes;
    for (int64_t i = 0; i < count - rank; ++i) axes.push_back(i);
    data = context.unsqueezed(data, axes);
  }
  context.finish("Tile", {data, repeats});
}

void range(LayerContext& context) {
  const auto& outputs = context.layer().outputs;
  const bool is_declared = !outputs.empty() && !outputs[0].precision.empty();
  const ElementType type =
      context.type("output_type", is_declared ? outputs[0].precision : std::string_view("i64"));
  std::vector<Value*> inputs;
  for (size_t i = 0; i < 3; ++i) {
    Value* value = context.input(i);
    if (value == nullptr)
      return context.fail(Status(StatusCode::ParseError, "an input is missing"));
    if (context.input_type(i) != type) value = context.cast(value, type);
    if (context.input_rank(i) != 0) {
      value = context.add("Reshape", {value, context.integers_constant("scalar", {})});
    }
    inputs.push_back(value);
  }
  context.finish("Range", std::move(inputs));
}

/// A matrix of zeros with ones where the column is the row plus the diagonal's number; batch_shape
/// repeats it.
void eye(LayerContext& context) {
  const auto scalar = [&](size_t input) {
    return context.add("Reshape", {context.integer_list(context.input(input)),
                                   context.integers_constant("scalar", {})});
  };
  const auto counted = [&](size_t input) {
    return context.add("Range",
                       {context.constant("from", Tensor::scalar<int64_t>(0)), scalar(input),
                        context.constant("step", Tensor::scalar<int64_t>(1))});
  };
  Value* const rows = context.add("Add", {context.unsqueezed(counted(0), {1}), scalar(2)});
  Value* const ones = context.add("Equal", {rows, counted(1)});
  Attributes to = with("to", onnx_type_code(context.type("output_type", "f32")));
  if (!context.has_input(3)) return context.finish("Cast", {ones}, std::move(to));
  Value* const matrix = context.add("Cast", {ones}, std::move(to));
  Value* const shape = context.add(
      "Concat", {context.integer_list(context.input(3)), context.add("Shape", {matrix})},
      with("axis", int64_t{0}));
  context.finish("Expand", {matrix, shape});
}

constexpr Translation kShapeTable[] = {
    {"Reshape", reshape},
    {"Transpose", transpose},
    {"Squeeze", squeeze},
    {"Unsqueeze", unsqueeze},
    {"Concat", concat},
    {"Split", split},
    {"VariadicSplit", variadic_split},
    {"ShapeOf", shape_of},
    {"Broadcast", broadcast},
    {"Tile", tile},
    {"Range", range},
    {"Eye", eye},
};

}  // namespace

std::span<const Translation> shape_translations() {
  return kShapeTable;
}

}  // namespace het::ir
