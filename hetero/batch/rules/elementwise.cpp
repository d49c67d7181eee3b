#include "hetero/batch/rules/elementwise.h"

#include <array>
#include <optional>

namespace het::hetero {
namespace {

Status elementwise(RuleContext& context) {
  std::vector<size_t> inputs(context.input_count());
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i] = i;
  HET_ASSIGN(const Items items, broadcast_items(context, inputs, context.output_shape().size()));
  context.set_all(items);
  return {};
}

/// Input 0 element by element; the others, scales and the like, are the same for all.
Status follow_first(RuleContext& context) {
  HET_TRY(context.need_others_shared({0}));
  HET_TRY(context.need_batched(0));
  context.set_all(context.input(0));
  return {};
}

/// The second input says the type only.
Status cast_like(RuleContext& context) {
  context.set(0, context.input(0));
  return {};
}

Status dropout(RuleContext& context) {
  const Tensor* const training = context.constant(2);
  if (context.has_input(2) && (training == nullptr || training->type() != ElementType::Bool ||
                               training->element_count() != 1 || *training->data<bool>())) {
    return context.refuse("training drops values at random, over all items");
  }
  return follow_first(context);
}

/// Elements of another width are joined or split in the last dimension.
Status bit_cast(RuleContext& context) {
  HET_TRY(context.need_batched(0));
  if (context.output_shape() != context.shape(0)) {
    HET_TRY(context.need_apart(0, context.rank(0) - 1));
  }
  return follow_first(context);
}

Status trilu(RuleContext& context) {
  HET_TRY(context.need_apart(0, context.rank(0) - 1));
  HET_TRY(context.need_apart(0, context.rank(0) - 2));
  return follow_first(context);
}

Status qlinear_binary(RuleContext& context) {
  HET_TRY(context.need_others_shared({0, 3}));
  HET_ASSIGN(const Items items,
             broadcast_items(context, std::array<size_t, 2>{0, 3}, context.output_shape().size()));
  context.set_all(items);
  return {};
}

Status quantize_by_range(RuleContext& context) {
  return context.refuse("the scale is that of the range of all items together");
}

}  // namespace

Result<Items> broadcast_items(const RuleContext& context, std::span<const size_t> inputs,
                              size_t output_rank) {
  std::optional<BatchAxis> found;
  for (const size_t i : inputs) {
    if (!context.has_input(i) || context.input(i).is_shared()) continue;
    HET_TRY(context.need_batched(i));
    BatchAxis axis = context.input(i).axis;
    axis.dim += output_rank - context.rank(i);
    if (found && *found != axis) {
      return context.refuse("the items of its inputs lie in different dimensions");
    }
    found = axis;
  }
  if (!found) return Items();
  // A dimension of another size than 1 that meets the items would differ from one to the other.
  for (const size_t i : inputs) {
    if (!context.has_input(i) || !context.input(i).is_shared()) continue;
    const size_t missing = output_rank - context.rank(i);
    if (found->dim < missing || context.shape(i)[found->dim - missing] == 1) continue;
    return context.refuse(fmt::format("its input {} '{}' {} is not the same for all items", i,
                                      context.node().input(i)->name(),
                                      to_string(context.shape(i))));
  }
  return Items::batched(*found);
}

std::vector<RuleRow> elementwise_rules() {
  std::vector<RuleRow> rows;
  for (const std::string_view type : {"Add",       "Sub",         "Mul",
                                      "Div",       "Mod",         "PRelu",
                                      "Equal",     "Greater",     "GreaterOrEqual",
                                      "Less",      "LessOrEqual", "And",
                                      "Or",        "Xor",         "BitwiseAnd",
                                      "BitwiseOr", "BitwiseXor",  "BitShift",
                                      "Pow",       "Max",         "Min",
                                      "Sum",       "Mean",        "Where",
                                      "SwiGLU",    "Abs",         "Acos",
                                      "Acosh",     "Asin",        "Asinh",
                                      "Atan",      "Atanh",       "Ceil",
                                      "Celu",      "Cos",         "Cosh",
                                      "Elu",       "Erf",         "Exp",
                                      "Floor",     "Gelu",        "HardSigmoid",
                                      "HardSwish", "LeakyRelu",   "Log",
                                      "Mish",      "Neg",         "Reciprocal",
                                      "Relu",      "Round",       "Selu",
                                      "Shrink",    "Sigmoid",     "Sign",
                                      "Sin",       "Sinh",        "Softplus",
                                      "Softsign",  "Sqrt",        "Swish",
                                      "Tan",       "Tanh",        "ThresholdedRelu",
                                      "Not",       "BitwiseNot",  "IsNaN",
                                      "IsInf",     "Clip"}) {
    rows.push_back({type, "", elementwise});
  }
  rows.push_back({"FakeQuantize", "het", elementwise});
  rows.push_back({"CastLike", "", cast_like});
  rows.push_back({"Cast", "", follow_first});
  rows.push_back({"Identity", "", follow_first});
  rows.push_back({"Dropout", "", dropout});
  rows.push_back({"BitCast", "", bit_cast});
  rows.push_back({"Trilu", "", trilu});
  for (const std::string_view domain : {"", "com.microsoft"}) {
    rows.push_back({"QuantizeLinear", domain, follow_first});
    rows.push_back({"DequantizeLinear", domain, follow_first});
  }
  rows.push_back({"DynamicQuantizeLinear", "", quantize_by_range});
  rows.push_back({"DynamicQuantizeLSTM", "com.microsoft", quantize_by_range});
  for (const std::string_view type : {"QLinearAdd", "QLinearMul"}) {
    rows.push_back({type, "com.microsoft", qlinear_binary});
  }
  for (const std::string_view type : {"QLinearSigmoid", "QLinearLeakyRelu"}) {
    rows.push_back({type, "com.microsoft", follow_first});
  }
  return rows;
}

}  // namespace het::hetero
