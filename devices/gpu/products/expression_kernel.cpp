#include "devices/gpu/products/expression_kernel.h"

#include "devices/gpu/plan/launches.h"
#include "devices/gpu/plan/strided_move.h"
#include "devices/gpu/plan/strided_space.h"
#include "devices/gpu/programs/kernel_sources.h"

namespace het::gpu {
namespace {

/// How elements of a type lie in memory.
std::string memory_type(ElementType type, const ExpressionKernel& kernel) {
  if (kernel.vectors) return "stored";
  if (kernel.bits && type != ElementType::Bool) return std::string(item_type(type));
  return type == ElementType::BFloat16 ? "ushort" : std::string(c_type(type));
}

std::string load_text(ElementType type, const ExpressionKernel& kernel, size_t operand,
                      const std::string& index) {
  if (type == ElementType::Bool) return fmt::format("(src{}[{}] != 0)", operand, index);
  if (type == ElementType::Float16 && !kernel.bits) {
    return fmt::format("vload_half({}, src{})", index, operand);
  }
  if (type == ElementType::BFloat16 && !kernel.bits) {
    return fmt::format("as_float((uint)src{}[{}] << 16)", operand, index);
  }
  return fmt::format("src{}[{}]", operand, index);
}

std::string store_text(ElementType type, const ExpressionKernel& kernel, const std::string& value) {
  if (type == ElementType::Float16 && !kernel.bits) {
    return fmt::format("vstore_half({}, i, dst)", value);
  }
  if (type == ElementType::BFloat16 && !kernel.bits) {
    return fmt::format("dst[i] = bfloat16_bits({})", value);
  }
  return fmt::format("dst[i] = {}", value);
}

/// Where every operand's part of the row begins.
std::string places_text(size_t operands, size_t rank) {
  std::string text;
  for (size_t i = 0; i < operands; ++i) {
    text += fmt::format("  int at{0} = x * step{0}_{1};\n", i, rank - 1);
  }
  text += fmt::format("  dst += (size_t)row * dim{} + x;\n", rank - 1);
  for (size_t d = rank - 1; d-- > 0;) {
    text += fmt::format("  {{\n    const int position = row % dim{0};\n    row /= dim{0};\n", d);
    for (size_t i = 0; i < operands; ++i) {
      text += fmt::format("    at{0} += position * step{0}_{1};\n", i, d);
    }
    text += "  }\n";
  }
  return text;
}

/// The loop around apply(): rows of the output's memory, WIDTH elements a work-item.
std::string kernel_text(const ExpressionKernel& kernel, const std::vector<ElementType>& types,
                        ElementType result, const StridedSpace& space) {
  const size_t rank = space.dims.size();
  std::string text = "__kernel void elementwise(";
  for (size_t i = 0; i < types.size(); ++i) {
    text += fmt::format("__global const {}* restrict src{}, ", memory_type(types[i], kernel), i);
  }
  text += fmt::format("__global {}* restrict dst, int rows", memory_type(result, kernel));
  for (size_t d = 0; d < rank; ++d) text += fmt::format(", int dim{}", d);
  for (size_t i = 0; i < types.size(); ++i) {
    for (size_t d = 0; d < rank; ++d) text += fmt::format(", int step{}_{}", i, d);
  }
  text += fmt::format(
      " NUMBER_PARAMETERS) {{\n  const int x = get_global_id(0) * WIDTH;\n  int row = "
      "get_global_id(1);\n"
      "  if (x >= dim{0} || row >= rows) return;\n  const int count = dim{0} - x;\n",
      rank - 1);
  text += places_text(types.size(), rank);
  std::string loads;
  for (size_t i = 0; i < types.size(); ++i) {
    loads += i == 0 ? "" : ", ";
    if (kernel.vectors) {
      loads += fmt::format("load_strided(src{0} + at{0}, step{0}_{1}, count)", i, rank - 1);
      continue;
    }
    // Steps that are known let compilers make vectors of the loop.
    const int64_t step = space.strides[i].back();
    const std::string index = step == 0   ? fmt::format("at{}", i)
                              : step == 1 ? fmt::format("at{} + i", i)
                                          : fmt::format("at{0} + i * step{0}_{1}", i, rank - 1);
    loads += load_text(types[i], kernel, i, index);
  }
  const std::string value = fmt::format("apply({} NUMBER_VALUES)", loads);
  if (kernel.vectors) return text + fmt::format("  store_lanes({}, dst, count);\n}}\n", value);
  return text +
         fmt::format(
             "  if (count >= WIDTH) {{\n    for (int i = 0; i < WIDTH; ++i) {0};\n  }} else {{\n"
             "    for (int i = 0; i < count; ++i) {0};\n  }}\n}}\n",
             store_text(result, kernel, value));
}

}  // namespace

std::string_view value_type(ElementType type) {
  if (type == ElementType::Bool) return "bool";
  if (type == ElementType::Float16 || type == ElementType::BFloat16) return "float";
  return c_type(type);
}

std::string apply_text(const PlanBuilder& builder, std::string_view text,
                       const std::vector<ExpressionOperand>& operands, const Value& output,
                       bool bits) {
  const auto name = [bits](ElementType type) {
    if (type == ElementType::Bool || !bits) return value_type(type);
    return item_type(type);
  };
  std::string result = fmt::format("{} apply(", name(builder.kept_type(output)));
  for (size_t i = 0; i < operands.size(); ++i) {
    result += fmt::format("{}{} r{}", i == 0 ? "" : ", ",
                          name(builder.tensor(operands[i].id).spec.type), i);
  }
  return result + fmt::format(" NUMBER_PARAMETERS) {{ return {}; }}\n", text);
}

Result<ExpressionOperand> read_operand(PlanBuilder& builder, const Value& operand,
                                       const Shape& shape, Format format) {
  const bool same_rank = operand.desc().shape.size() == shape.size();
  HET_ASSIGN(const TensorId id, builder.read(operand, same_rank ? format : Format::Plain));
  return ExpressionOperand{id, broadcast_strides(builder.tensor(id).spec, shape, format)};
}

Status add_expression(PlanBuilder& builder, const Node& node, const ExpressionKernel& kernel,
                      const std::vector<ExpressionOperand>& operands, const Value& output,
                      Format format) {
  const TensorId to = builder.write(output, format);
  const TensorSpec target = builder.tensor(to).spec;
  std::vector<ElementType> types;
  std::vector<std::vector<int64_t>> strides;
  for (const ExpressionOperand& operand : operands) {
    types.push_back(builder.tensor(operand.id).spec.type);
    strides.push_back(operand.strides);
  }
  const StridedSpace space = merged_space(physical_dims(target), strides);
  Launch launch;
  launch.text.options = row_options(builder);
  launch.text.generated = kernel.vectors ? std::string(*kernel_source("expressions"))
                                         : std::string(*kernel_source("typed_expressions"));
  launch.text.generated += kernel.numbers.macros() + kernel.apply;
  launch.text.numbers = kernel.numbers.values();
  launch.text.generated += kernel_text(kernel, types, target.type, space);
  launch.kernel = "elementwise";
  for (const ExpressionOperand& operand : operands) launch.args.emplace_back(Read{operand.id});
  launch.args.emplace_back(Write{to});
  const int64_t rows = element_count(space.dims) / space.dims.back();
  launch.args.emplace_back(as_int(rows));
  for (const int64_t dim : space.dims) launch.args.emplace_back(as_int(dim));
  for (const auto& steps : space.strides) {
    for (const int64_t step : steps) launch.args.emplace_back(as_int(step));
  }
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  launch.global = {groups_of(space.dims.back(), width), static_cast<size_t>(rows), 1};
  launch.local = row_groups(builder.hardware(), launch.global);
  return builder.add_step(node, std::move(launch));
}

}  // namespace het::gpu
