#include <numeric>

#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/numbers.h"
#include "inference/readers/openvino_ir/own_operator.h"
#include "inference/readers/openvino_ir/translate.h"

/// Reading elements by index.
namespace het::ir {
namespace {

/// With batch dimensions: the axis is moved behind them, GatherND takes one index per element, and
/// what was between them comes back in front of the indices.
void gather_batches(LayerContext& context, int64_t axis, int64_t batch_dims) {
  const int64_t rank = context.input_rank(0);
  const int64_t index_rank = context.input_rank(1);
  const int64_t between = axis - batch_dims;
  Value* data = context.input(0);
  if (between > 0) data = context.transposed(data, moved(rank, axis, batch_dims));
  Value* const indices = context.unsqueezed(context.indices(1), {index_rank});
  Value* const indices64 = context.cast(indices, ElementType::Int64);
  if (between == 0) {
    return context.finish("GatherND", {data, indices64}, with("batch_dims", batch_dims));
  }
  Value* const found = context.add("GatherND", {data, indices64}, with("batch_dims", batch_dims));
  // [batches, index ..., between ..., behind ...] -> [batches, between ..., index ..., behind ...]
  const int64_t own = index_rank - batch_dims;
  std::vector<int64_t> order;
  const auto append = [&](int64_t from, int64_t count) {
    for (int64_t i = 0; i < count; ++i) order.push_back(from + i);
  };
  append(0, batch_dims);
  append(batch_dims + own, between);
  append(batch_dims, own);
  append(batch_dims + own + between, rank - axis - 1);
  context.finish("Transpose", {found}, with("perm", order));
}

void gather(LayerContext& context) {
  const std::vector<int64_t> axes = context.required_integers(2, "an axis");
  if (axes.size() != 1) return context.refuse("its axis is not one number");
  int64_t batch_dims = context.integer("batch_dims", 0);
  if (batch_dims < 0) batch_dims += context.input_rank(1);
  if (batch_dims == 0) {
    return context.finish("Gather", {context.input(0), context.indices(1)}, with("axis", axes[0]));
  }
  const int64_t axis = context.normalized(axes[0], context.input_rank(0));
  if (batch_dims < 0 || batch_dims > axis || batch_dims > context.input_rank(1)) {
    return context.fail(
        Status(StatusCode::ParseError,
               fmt::format("batch_dims is {}, which axis {} and indices of rank {} do not allow",
                           batch_dims, axis, context.input_rank(1))));
  }
  gather_batches(context, axis, batch_dims);
}

void gather_elements(LayerContext& context) {
  context.finish("GatherElements", {context.input(0), context.indices(1)},
                 with("axis", context.integer("axis", 0)));
}

/// Version 5 joins the batch dimensions of the result into one; 8 keeps them, as ONNX.
void gather_nd(LayerContext& context) {
  const int64_t batch_dims = context.integer("batch_dims", 0);
  const std::vector<Value*> inputs{context.input(0),
                                   context.cast(context.input(1), ElementType::Int64)};
  if (batch_dims <= 1 || context.opset() >= 8) {
    return context.finish("GatherND", inputs, with("batch_dims", batch_dims));
  }
  Value* const found = context.add("GatherND", inputs, with("batch_dims", batch_dims));
  Value* const rest = context.add("Shape", {found}, with("start", batch_dims));
  Value* const shape = context.add("Concat", {context.integers_constant("joined", {-1}), rest},
                                   with("axis", int64_t{0}));
  context.finish("Reshape", {found, shape});
}

/// ONNX takes off and on values as one input, off first.
void one_hot(LayerContext& context) {
  if (!context.has_input(3)) {
    return context.fail(Status(StatusCode::ParseError, "it needs four inputs"));
  }
  Value* const values = context.add(
      "Concat", {context.reshaped(context.input(3), {1}), context.reshaped(context.input(2), {1})},
      with("axis", int64_t{0}));
  Value* const depth = context.integer_list(context.input(1));
  Value* indices = context.input(0);
  const std::string mode = context.text("negative_indices_mode", "ignore_negative");
  if (mode != "ignore_negative" && mode != "normalize") {
    return context.fail(
        Status(StatusCode::ParseError,
               fmt::format("attribute 'negative_indices_mode': '{}' is neither ignore_negative nor "
                           "normalize",
                           mode)));
  }
  if (mode == "ignore_negative") {
    // ONNX counts negative places from the end; the place `depth` is none.
    const ElementType type = context.input_type(0);
    Value* const is_negative = context.add("Less", {indices, context.scalar("zero", type, 0)});
    Value* const none = context.add(
        "Reshape", {context.cast(depth, type), context.integers_constant("scalar", {})});
    indices = context.add("Where", {is_negative, none, indices});
  }
  context.finish("OneHot", {indices, depth, values}, with("axis", context.integer("axis", -1)));
}

/// Inputs: step_ids, parent_idx, max_seq_len, end_token.
void gather_tree(LayerContext& context) {
  finish_own_operator(context, {});
}

/// How many elements of the last dimension of input 0 lie before each value.
void search_sorted(LayerContext& context) {
  Value* const sorted =
      context.input_rank(0) == 1 ? context.input(0) : context.unsqueezed(context.input(0), {-2});
  Value* const values = context.unsqueezed(context.input(1), {-1});
  const bool right = context.flag("right_mode", false);
  Value* const before = context.add(right ? "LessOrEqual" : "Less", {sorted, values});
  Value* const count = context.add(
      "ReduceSum",
      {context.cast(before, ElementType::Int64), context.integers_constant("axis", {-1})},
      with("keepdims", int64_t{0}));
  context.finish("Cast", {count}, with("to", onnx_type_code(context.type("output_type", "i64"))));
}

constexpr Translation kGatherTable[] = {
    {"Gather", gather},  {"GatherElements", gather_elements}, {"GatherND", gather_nd},
    {"OneHot", one_hot}, {"GatherTree", gather_tree},         {"SearchSorted", search_sorted},
};

}  // namespace

std::span<const Translation> gather_translations() {
  return kGatherTable;
}

}  // namespace het::ir
