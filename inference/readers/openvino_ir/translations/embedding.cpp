#include <numeric>

#include "inference/readers/openvino_ir/translate.h"

/// Sums and means of table rows: a bag is a row of indices, or a stretch of a list of them.
namespace het::ir {
namespace {

bool takes_mean(LayerContext& context) {
  const std::string how = context.text("reduction", "sum");
  if (how != "sum" && how != "mean") {
    context.fail(Status(StatusCode::ParseError,
                        fmt::format("attribute 'reduction': '{}' is neither sum nor mean", how)));
  }
  return how == "mean";
}

/// Rows of the table by the indices of input 1, weighted where `weights` is an input.
Value* rows_of(LayerContext& context, size_t weights) {
  Value* const rows = context.add("Gather", {context.input(0), context.indices(1)});
  if (!context.has_input(weights)) return rows;
  const int64_t index_rank = context.input_rank(1);
  std::vector<int64_t> axes(static_cast<size_t>(std::max<int64_t>(1, context.input_rank(0)) - 1));
  std::iota(axes.begin(), axes.end(), index_rank);
  Value* const factors =
      axes.empty() ? context.input(weights) : context.unsqueezed(context.input(weights), axes);
  return context.add("Mul", {rows, factors});
}

void packed(LayerContext& context) {
  const bool mean = takes_mean(context);
  context.finish(mean ? "ReduceMean" : "ReduceSum",
                 {rows_of(context, 2), context.integers_constant("axis", {1})},
                 with("keepdims", int64_t{0}));
}

/// Adds the rows of every segment; `segments` [n] says which one a row belongs to, `count` [1] how
/// many there are. An empty segment gets the table's row of input `fallback`, or zeros.
void finish_segments(LayerContext& context, Value* rows, Value* segments, Value* count,
                     size_t fallback, bool mean) {
  const ElementType type = context.input_type(0);
  const int64_t rank = context.input_rank(0);
  if (rank < 1) return context.refuse("a table of unknown rank is not supported");
  Value* const places = context.unsqueezed(segments, {1});
  const auto summed = [&](Value* shape, Value* updates) {
    Value* const zeros = context.cast(context.add("ConstantOfShape", {shape}), type);
    return context.add("ScatterND", {zeros, places, updates},
                       with("reduction", std::string("add")));
  };
  Value* const row_shape = context.add("Shape", {context.input(0)}, with("start", int64_t{1}));
  Value* const sums =
      summed(context.add("Concat", {count, row_shape}, with("axis", int64_t{0})), rows);
  const auto numbers = context.constant_integers(fallback);
  if (context.has_input(fallback) && (!numbers || numbers->size() != 1)) {
    return context.refuse("a default index that is computed is not supported, only a constant");
  }
  const bool has_fallback = context.has_input(fallback) && numbers->front() != -1;
  if (!has_fallback && !mean) return context.finish("Identity", {sums});
  Value* const one = context.constant("one", Tensor::from<int64_t>({1}, {1}));
  Value* const ones =
      context.cast(context.add("Expand", {one, context.add("Shape", {segments})}), type);
  std::vector<int64_t> axes(static_cast<size_t>(rank - 1));
  std::iota(axes.begin(), axes.end(), int64_t{1});
  Value* members = summed(count, ones);
  if (!axes.empty()) members = context.unsqueezed(members, axes);
  Value* result = sums;
  if (mean) {
    result =
        context.add("Div", {sums, context.add("Max", {members, context.scalar("least", type, 1)})});
  }
  if (!has_fallback) return context.finish("Identity", {result});
  Value* const spare = context.add(
      "Gather", {context.input(0), context.constant("spare", Tensor::scalar(numbers->front()))});
  Value* const empty = context.add("Equal", {members, context.scalar("none", type, 0)});
  context.finish("Where", {empty, spare, result});
}

/// Inputs: table, indices, offsets of the bags' first indices, default index, weights.
void by_offsets(LayerContext& context) {
  const bool mean = takes_mean(context);
  const auto scalar = [&](std::string_view name, int64_t value) {
    return context.constant(name, Tensor::scalar<int64_t>(value));
  };
  Value* const length = context.add("Squeeze", {context.add("Shape", {context.input(1)}),
                                                context.integers_constant("list", {0})});
  Value* const places =
      context.unsqueezed(context.add("Range", {scalar("from", 0), length, scalar("step", 1)}), {1});
  Value* const offsets = context.cast(context.input(2), ElementType::Int64);
  // A place belongs to the last bag that starts at it or before it.
  Value* const begun =
      context.cast(context.add("GreaterOrEqual", {places, offsets}), ElementType::Int64);
  Value* const bags = context.add("ReduceSum", {begun, context.integers_constant("axis", {1})},
                                  with("keepdims", int64_t{0}));
  finish_segments(context, rows_of(context, 4), context.add("Sub", {bags, scalar("own", 1)}),
                  context.add("Shape", {context.input(2)}), 3, mean);
}

/// Inputs: table, indices, segment of each, number of segments, default index, weights.
void by_segments(LayerContext& context) {
  finish_segments(context, rows_of(context, 5), context.cast(context.input(2), ElementType::Int64),
                  context.integer_list(context.input(3)), 4, false);
}

constexpr Translation kEmbeddingTable[] = {
    {"EmbeddingBagPacked", packed},        {"EmbeddingBagPackedSum", packed},
    {"EmbeddingBagOffsets", by_offsets},   {"EmbeddingBagOffsetsSum", by_offsets},
    {"EmbeddingSegmentsSum", by_segments},
};

}  // namespace

std::span<const Translation> embedding_translations() {
  return kEmbeddingTable;
}

}  // namespace het::ir
