#include <limits>
#include <numeric>

#include "inference/ops/numeric_cast.h"
#include "inference/ops/type_dispatch.h"
#include "inference/readers/openvino_ir/numbers.h"
#include "inference/readers/openvino_ir/translate.h"

/// Writing elements by index.
namespace het::ir {
namespace {

/// A constant axis input, counted from the front; -1 after a refusal.
int64_t axis_input(LayerContext& context, size_t index) {
  const std::vector<int64_t> axis = context.required_integers(index, "an axis");
  if (axis.size() == 1) return context.normalized(axis[0], context.input_rank(0));
  context.refuse(fmt::format("its axis has {} numbers instead of one", axis.size()));
  return -1;
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

/// sub adds what is negated.
void scatter_nd_update(LayerContext& context) {
  Value* const indices = context.cast(context.input(1), ElementType::Int64);
  const bool subtracts = context.text("reduction", "none") == "sub";
  Value* const updates = subtracts ? context.add("Neg", {context.input(2)}) : context.input(2);
  context.finish("ScatterND", {context.input(0), indices, updates},
                 with("reduction", subtracts ? "add" : reduction(context)));
}

/// What leaves the other operand of a reduction as it is.
Value* neutral(LayerContext& context, const std::string& combined) {
  if (combined == "add") return context.scalar("neutral", context.input_type(0), 0);
  if (combined == "mul") return context.scalar("neutral", context.input_type(0), 1);
  Value* made = nullptr;
  const Status status = dispatch_numeric(context.input_type(0), [&]<class T>() -> Status {
    using Limits = std::numeric_limits<ArithmeticType<T>>;
    T limit = static_cast<T>(combined == "min" ? Limits::max() : Limits::lowest());
    if constexpr (Limits::has_infinity) {
      limit = static_cast<T>(combined == "min" ? Limits::infinity() : -Limits::infinity());
    }
    made = context.constant("neutral", Tensor::scalar<T>(limit));
    return {};
  });
  if (made == nullptr) context.refuse(std::string(status.message()));
  return made;
}

/// Without use_init_val the places that are written start at what is neutral. A mean is the sum
/// over the number of summands; of integers it is rounded towards zero.
void scatter_elements_update(LayerContext& context) {
  const int64_t axis = axis_input(context, 3);
  const bool own = context.flag("use_init_val", true);
  const bool mean = context.text("reduction", "none") == "mean";
  const std::string combined = mean ? "add" : reduction(context);
  if (!context.refusal().empty() || !context.status().ok()) return;
  Value* const indices = context.indices(1);
  Attributes attributes = with("axis", axis);
  Value* data = context.input(0);
  if (combined != "none" && !own) {
    Value* const start =
        context.add("Expand", {neutral(context, combined), context.add("Shape", {indices})});
    data = context.add("ScatterElements", {data, indices, start}, attributes);
  }
  attributes.set("reduction", combined);
  if (!mean) {
    return context.finish("ScatterElements", {data, indices, context.input(2)},
                          std::move(attributes));
  }
  const ElementType type = context.input_type(0);
  const auto filled = [&](Value* like, double value) {
    return context.add("Expand",
                       {context.scalar("count", type, value), context.add("Shape", {like})});
  };
  Value* const sums = context.add("ScatterElements", {data, indices, context.input(2)}, attributes);
  Value* counts = filled(data, own ? 1 : 0);
  counts = context.add("ScatterElements", {counts, indices, filled(indices, 1)}, attributes);
  if (!own) counts = context.add("Max", {counts, context.scalar("one", type, 1)});
  context.finish("Div", {sums, counts});
}

/// The places that Slice would read, as numbers, say where the updates go.
void slice_scatter(LayerContext& context) {
  const auto scalar = [&](std::string_view name, int64_t value) {
    return context.constant(name, Tensor::scalar<int64_t>(value));
  };
  Value* const shape = context.add("Shape", {context.input(0)});
  Value* const count = context.add("ReduceProd", {shape}, with("keepdims", int64_t{0}));
  Value* const numbers = context.add("Range", {scalar("from", 0), count, scalar("step", 1)});
  Value* const axes = context.has_input(5) ? context.integer_list(context.input(5)) : nullptr;
  Attributes exact = with("allowzero", int64_t{1});
  Value* const places = context.add(
      "Slice",
      {context.add("Reshape", {numbers, shape}, exact), context.integer_list(context.input(2)),
       context.integer_list(context.input(3)), axes, context.integer_list(context.input(4))});
  Value* const updates = context.add("Expand", {context.input(1), context.add("Shape", {places})});
  Value* const written = context.add(
      "ScatterElements", {context.reshaped(context.input(0), {-1}), context.reshaped(places, {-1}),
                          context.reshaped(updates, {-1})});
  context.finish("Reshape", {written, shape}, exact);
}

constexpr Translation kScatterTable[] = {
    {"ScatterUpdate", scatter_update},
    {"ScatterNDUpdate", scatter_nd_update},
    {"ScatterElementsUpdate", scatter_elements_update},
    {"SliceScatter", slice_scatter},
};

}  // namespace

std::span<const Translation> scatter_translations() {
  return kScatterTable;
}

}  // namespace het::ir
