#include <numeric>

#include "inference/readers/openvino_ir/translate.h"

/// Reading and writing elements by index.
namespace het::ir {
namespace {

/// [0, rank) with the entry at `from` moved to `to`.
std::vector<int64_t> moved(int64_t rank, int64_t from, int64_t to) {
  std::vector<int64_t> order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), int64_t{0});
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return order;
}

/// A constant axis input, counted from the front; -1 after a refusal.
int64_t axis_input(LayerContext& context, size_t index) {
  const std::vector<int64_t> axis = context.required_integers(index, "an axis");
  if (axis.size() == 1) return context.normalized(axis[0], context.input_rank(0));
  context.refuse(fmt::format("its axis has {} numbers instead of one", axis.size()));
  return -1;
}

/// With batch dimensions: the axis is moved behind them, GatherND takes one index per element, and
/// what was between them comes back in front of the indices.
void gather_batches(LayerContext& context, int64_t axis, int64_t batch_dims) {
  const int64_t rank = context.input_rank(0);
  const int64_t index_rank = context.input_rank(1);
  const int64_t between = axis - batch_dims;
  Value* data = context.input(0);
  if (between > 0) data = context.transposed(data, moved(rank, axis, batch_dims));
  Value* const indices = context.unsqueezed(context.input(1), {index_rank});
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
    return context.finish("Gather", {context.input(0), context.input(1)}, with("axis", axes[0]));
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
  context.finish("GatherElements", {context.input(0), context.input(1)},
                 with("axis", context.integer("axis", 0)));
}

/// Version 5 joins the batch dimensions of the result into one; 8 keeps them, as ONNX.
void gather_nd(LayerContext& context) {
  const int64_t batch_dims = context.integer("batch_dims", 0);
  if (batch_dims > 1 && context.opset() < 8) {
    return context.refuse("GatherND of opset5 with several batch dimensions is not supported");
  }
  context.finish("GatherND", {context.input(0), context.cast(context.input(1), ElementType::Int64)},
                 with("batch_dims", batch_dims));
}

/// ONNX writes along the first dimension only: the axis goes there and back. The updates have the
/// dimensions of the indices in place of the axis.
void scatter_update(LayerContext& context) {
  const int64_t axis = axis_input(context, 3);
  if (axis < 0 || !context.status().ok()) return;
  const int64_t rank = context.input_rank(0);
  const int64_t index_rank = context.input_rank(1);
  if (context.input_rank(2) != rank - 1 + index_rank) {
    return context.fail(
        Status(StatusCode::ParseError,
               fmt::format("its updates have rank {}, but data of rank {} and indices of rank {} "
                           "need {}",
                           context.input_rank(2), rank, index_rank, rank - 1 + index_rank)));
  }
  Value* const indices =
      context.cast(context.unsqueezed(context.input(1), {index_rank}), ElementType::Int64);
  if (axis == 0) return context.finish("ScatterND", {context.input(0), indices, context.input(2)});
  std::vector<int64_t> order;
  for (int64_t i = 0; i < index_rank; ++i) order.push_back(axis + i);
  for (int64_t i = 0; i < axis; ++i) order.push_back(i);
  for (int64_t i = axis + index_rank; i < rank - 1 + index_rank; ++i) order.push_back(i);
  Value* const written =
      context.add("ScatterND", {context.transposed(context.input(0), moved(rank, axis, 0)), indices,
                                context.transposed(context.input(2), order)});
  context.finish("Transpose", {written}, with("perm", moved(rank, 0, axis)));
}

/// The name of a reduction in ONNX; "none" after a refusal.
std::string reduction(LayerContext& context) {
  const std::string name = context.text("reduction", "none");
  if (name == "sum") return "add";
  if (name == "prod") return "mul";
  if (name == "min" || name == "max" || name == "none") return name;
  context.refuse(fmt::format("{} with reduction {} is not supported", context.layer().type, name));
  return "none";
}

void scatter_nd_update(LayerContext& context) {
  context.finish(
      "ScatterND",
      {context.input(0), context.cast(context.input(1), ElementType::Int64), context.input(2)},
      with("reduction", reduction(context)));
}

void scatter_elements_update(LayerContext& context) {
  const int64_t axis = axis_input(context, 3);
  Attributes attributes = with("axis", axis);
  const std::string combined = reduction(context);
  if (combined != "none" && !context.flag("use_init_val", true)) {
    return context.refuse("ScatterElementsUpdate without use_init_val is not supported");
  }
  attributes.set("reduction", combined);
  context.finish("ScatterElements", {context.input(0), context.input(1), context.input(2)},
                 std::move(attributes));
}

/// ONNX takes off and on values as one input, off first.
void one_hot(LayerContext& context) {
  if (!context.has_input(3)) {
    return context.fail(Status(StatusCode::ParseError, "it needs four inputs"));
  }
  Value* const values = context.add(
      "Concat", {context.reshaped(context.input(3), {1}), context.reshaped(context.input(2), {1})},
      with("axis", int64_t{0}));
  context.finish("OneHot", {context.input(0), context.integer_list(context.input(1)), values},
                 with("axis", context.integer("axis", -1)));
}

constexpr Translation kTable[] = {
    {"Gather", gather},
    {"GatherElements", gather_elements},
    {"GatherND", gather_nd},
    {"ScatterUpdate", scatter_update},
    {"ScatterNDUpdate", scatter_nd_update},
    {"ScatterElementsUpdate", scatter_elements_update},
    {"OneHot", one_hot},
};

}  // namespace

std::span<const Translation> gather_translations() {
  return kTable;
}

}  // namespace het::ir
