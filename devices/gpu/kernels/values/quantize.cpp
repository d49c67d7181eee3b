#include <algorithm>
#include <limits>

#include "devices/gpu/plan/expression_text.h"
#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/plan_builder.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/products/expression_kernel.h"
#include "inference/base/registration.h"
#include "inference/ops/packed_integer.h"
#include "inference/ops/quantisation/quantization.h"

namespace het::gpu {
namespace {

bool is_stored_type(ElementType type) {
  return is_integer(type) && bit_width(type) >= 8 && bit_width(type) <= 32;
}

/// An operand of a quantised expression: values, or parameters with one number each or one per
/// index of an axis. Scales keep float32 whatever values are stored as.
struct QuantizedOperand {
  const Value* value = nullptr;
  bool parameter = false;
};

/// round(value / scale) + zero point in the range of a type.
std::string rounded_text(ElementType type, const std::string& value, const std::string& scale,
                         const std::string& zero) {
  const IntegerRange range = integer_range(type);
  return fmt::format("quantized(({}) / {}, {}, {}L, {}L)", value, scale, zero, range.lowest,
                     range.highest);
}

/// The value that stored numbers stand for.
std::string real_text(const std::string& stored, const std::string& scale,
                      const std::string& zero) {
  return fmt::format("(float)((long){} - {}) * {}", stored, zero, scale);
}

std::string refuse_quantised_types(const Node& node) {
  for (const auto* list : {&node.inputs(), &node.outputs()}) {
    for (const Value* value : *list) {
      if (value == nullptr) continue;
      const ElementType type = value->desc().type;
      if (type == ElementType::Float32 || is_stored_type(type)) continue;
      return fmt::format("no GPU kernel quantises to or from {}", to_string(type));
    }
  }
  return {};
}

std::string refuse_linear(const Node& node) {
  if (std::string reason = refuse_quantised_types(node); !reason.empty()) return reason;
  const Shape& scale = node.input(1)->desc().shape;
  const bool blocked = node.attributes().get_int("block_size", 0) > 0 &&
                       scale.size() == node.input(0)->desc().shape.size();
  if ((blocked || scale.size() > 1) && element_count(scale) != 1)
    return "its scales are for blocks of values";
  const int64_t precision = node.attributes().get_int("precision", 0);
  constexpr int64_t kOnnxFloat = 1;
  if (precision != 0 && precision != kOnnxFloat) return "it divides in another type than float32";
  return {};
}

/// Reads operands, those of one number standing still, those of an axis along it.
Status plan_quantized(PlanBuilder& builder, const Node& node, const std::string& text,
                      const std::vector<QuantizedOperand>& inputs) {
  const Value& output = *node.output();
  const Shape& shape = output.desc().shape;
  std::vector<Value*> values{node.input(0)};
  const Format format = walked_format(builder, values, shape);
  const auto rank = static_cast<int64_t>(shape.size());
  std::vector<ExpressionOperand> operands;
  for (const QuantizedOperand& input : inputs) {
    if (!input.parameter) {
      HET_ASSIGN(ExpressionOperand read, read_operand(builder, *input.value, shape, format));
      operands.push_back(std::move(read));
      continue;
    }
    ExpressionOperand operand;
    HET_ASSIGN(operand.id, builder.read(*input.value, Format::Plain, input.value->desc().type));
    operand.strides.assign(shape.size(), 0);
    if (element_count(input.value->desc().shape) > 1) {
      // The default axis 1 does not exist in a list, where the only one is meant.
      HET_ASSIGN(const int64_t axis,
                 normalize_axis(rank == 1 ? 0 : node.attributes().get_int("axis", 1), rank));
      const bool last = format == Format::ChannelsLast && rank >= 3;
      const int64_t place = !last || axis == 0 ? axis : axis == 1 ? rank - 1 : axis - 1;
      operand.strides[static_cast<size_t>(place)] = 1;
    }
    operands.push_back(std::move(operand));
  }
  ExpressionKernel kernel;
  kernel.apply = apply_text(builder, text, operands, output);
  return add_expression(builder, node, kernel, operands, output, format);
}

Status plan_linear(PlanBuilder& builder, const Node& node) {
  std::vector<QuantizedOperand> operands{{node.input(0)}, {node.input(1), true}};
  std::string zero = "0L";
  if (node.input(2) != nullptr) {
    operands.push_back({node.input(2), true});
    zero = "(long)r2";
  }
  const std::string text = node.op_type() == "QuantizeLinear"
                               ? rounded_text(node.output()->desc().type, "(float)r0", "r1", zero)
                               : real_text("r0", "r1", zero);
  return plan_quantized(builder, node, text, operands);
}

/// Operators of com.microsoft: x, its scale and zero point, perhaps a second such input, then the
/// output's scale and zero point, all single numbers.
Status plan_qlinear(PlanBuilder& builder, const Node& node) {
  const bool binary = node.op_type() == "QLinearAdd" || node.op_type() == "QLinearMul";
  std::vector<QuantizedOperand> operands;
  std::vector<std::string> names;
  for (size_t i = 0; i < (binary ? 8u : 5u); ++i) {
    const Value* value = node.input(i);
    if (value == nullptr) {
      names.emplace_back("0");
      continue;
    }
    names.push_back(fmt::format("r{}", operands.size()));
    operands.push_back({value, i != 0 && !(binary && i == 3)});
  }
  const auto zero = [&](size_t i) { return "(long)" + names[i]; };
  const std::string a = real_text(names[0], names[1], zero(2));
  std::string value;
  if (binary) {
    const std::string b = real_text(names[3], names[4], zero(5));
    value = fmt::format("{} {} {}", a, node.op_type() == "QLinearAdd" ? "+" : "*", b);
  } else if (node.op_type() == "QLinearSigmoid") {
    value = fmt::format("1.0f / (1.0f + exp(-({})))", a);
  } else {
    value = fmt::format("({0}) >= 0.0f ? {0} : {1} * {0}", a,
                        literal(node.attributes().get_float("alpha", 0.01f)));
  }
  const size_t scale = binary ? 6 : 3;
  const std::string text =
      rounded_text(node.output()->desc().type, value, names[scale], zero(scale + 1));
  return plan_quantized(builder, node, text, operands);
}

Status plan_dynamic(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const TensorId from, builder.read(*node.input(0), Format::Plain));
  const int64_t count = element_count(node.input(0)->desc().shape);
  const int64_t parts = std::min<int64_t>(count, builder.hardware().is_cpu ? 64 : 1024);
  const TensorId ranges = builder.temporary({ElementType::Float32, {2 * parts}, Format::Plain});
  const TensorId used = builder.temporary({ElementType::Float32, {2}, Format::Plain});
  const TensorId to = builder.write(*node.output(0), Format::Plain);
  const auto output = [&](size_t i, ElementType type) {
    return node.output(i) != nullptr ? builder.write(*node.output(i), Format::Plain)
                                     : builder.temporary({type, {}, Format::Plain});
  };
  const TensorId scale = output(1, builder.options().stored_type);
  const TensorId zero = output(2, ElementType::UInt8);
  Launch launch;
  launch.text.file = "quantize";
  launch.text.options = storage_option(builder.options().stored_type);
  launch.local = builder.row_local();
  launch.kernel = "range_parts";
  launch.args = {Read{from}, Write{ranges}, as_int(count), as_int(parts)};
  launch.global[0] = static_cast<size_t>(parts);
  HET_TRY(builder.add_step(node, launch));
  launch.kernel = "range_scale";
  launch.args = {Read{ranges}, Write{scale}, Write{zero}, Write{used}, as_int(parts)};
  launch.global[0] = 1;
  HET_TRY(builder.add_step(node, launch));
  launch.kernel = "to_bytes";
  launch.args = {Read{from}, Read{used}, Write{to}, as_int(count)};
  launch.global[0] = static_cast<size_t>(count);
  return builder.add_step(node, std::move(launch));
}

}  // namespace

HET_REGISTRATION void register_quantize(KernelRegistry& registry) {
  for (const char* domain : {"", "com.microsoft"}) {
    registry.add(domain, "QuantizeLinear", {refuse_linear, plan_linear});
    registry.add(domain, "DequantizeLinear", {refuse_linear, plan_linear});
  }
  for (const char* type : {"QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu"}) {
    registry.add("com.microsoft", type, {refuse_quantised_types, plan_qlinear});
  }
  registry.add("", "DynamicQuantizeLinear", {refuse_quantised_types, plan_dynamic});
}

}  // namespace het::gpu
