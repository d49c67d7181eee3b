#include <utility>

#include "inference/ops/onnx_type.h"
#include "inference/readers/openvino_ir/translate.h"

/// Reductions, softmax and running sums.
namespace het::ir {
namespace {

constexpr std::pair<std::string_view, const char*> kReductions[] = {
    {"ReduceMax", "ReduceMax"}, {"ReduceMin", "ReduceMin"},        {"ReduceMean", "ReduceMean"},
    {"ReduceSum", "ReduceSum"}, {"ReduceProd", "ReduceProd"},      {"ReduceL1", "ReduceL1"},
    {"ReduceL2", "ReduceL2"},   {"ReduceLogicalAnd", "ReduceMin"}, {"ReduceLogicalOr", "ReduceMax"},
};

/// No axes: nothing is reduced. The logical ones take the least and greatest boolean.
void reduce(LayerContext& context) {
  Attributes attributes = with("keepdims", int64_t{context.flag("keep_dims", false)});
  attributes.set("noop_with_empty_axes", int64_t{1});
  const ElementType own = context.input_type(0);
  if (context.layer().type == "ReduceL2" && is_integer(own)) {
    // A root that OpenVINO truncates.
    Value* const reals = context.cast(context.input(0), ElementType::Float32);
    Value* const root =
        context.add("ReduceL2", {reals, context.integer_list(context.input(1))}, attributes);
    return context.finish("Cast", {root}, with("to", onnx_type_code(own)));
  }
  for (const auto& [type, onnx] : kReductions) {
    if (type != context.layer().type) continue;
    return context.finish(onnx, {context.input(0), context.integer_list(context.input(1))},
                          std::move(attributes));
  }
}

void softmax(LayerContext& context) {
  const std::string_view type = context.layer().type;
  context.finish(type == "LogSoftmax" ? "LogSoftmax" : "Softmax", {context.input(0)},
                 with("axis", context.integer("axis", 1)));
}

void cum_sum(LayerContext& context) {
  Attributes attributes = with("exclusive", int64_t{context.flag("exclusive", false)});
  attributes.set("reverse", int64_t{context.flag("reverse", false)});
  Value* axis = context.indices(1);
  if (axis == nullptr) {
    axis = context.constant("axis", Tensor::scalar<int64_t>(0));
  } else if (context.input_rank(1) != 0) {
    axis = context.add("Reshape", {axis, context.integers_constant("scalar", {})});
  }
  context.finish("CumSum", {context.input(0), axis}, std::move(attributes));
}

/// The number of buckets' bounds below the value, or below and at it.
void bucketize(LayerContext& context) {
  const int64_t rank = context.input_rank(0);
  Value* values = context.input(0);
  Value* bounds = context.input(1);
  // ONNX compares values of one type.
  if (const ElementType a = context.input_type(0), b = context.input_type(1); a != b) {
    const ElementType wide = is_float(a) || is_float(b) ? ElementType::Float32 : ElementType::Int64;
    values = context.cast(values, wide);
    bounds = context.cast(bounds, wide);
  }
  Value* const column = context.unsqueezed(values, {rank});
  const bool right = context.flag("with_right_bound", true);
  Value* const beyond = context.add(right ? "Greater" : "GreaterOrEqual", {column, bounds});
  Value* const count = context.add(
      "ReduceSum",
      {context.cast(beyond, ElementType::Int64), context.integers_constant("axis", {rank})},
      with("keepdims", int64_t{0}));
  context.finish("Cast", {count}, with("to", onnx_type_code(context.type("output_type", "i64"))));
}

constexpr Translation kReductionTable[] = {
    {"ReduceMax", reduce}, {"ReduceMin", reduce},        {"ReduceMean", reduce},
    {"ReduceSum", reduce}, {"ReduceProd", reduce},       {"ReduceL1", reduce},
    {"ReduceL2", reduce},  {"ReduceLogicalAnd", reduce}, {"ReduceLogicalOr", reduce},
    {"SoftMax", softmax},  {"Softmax", softmax},         {"LogSoftmax", softmax},
    {"CumSum", cum_sum},   {"Bucketize", bucketize},
};

}  // namespace

std::span<const Translation> reduction_translations() {
  return kReductionTable;
}

}  // namespace het::ir
