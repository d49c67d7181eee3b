#include "inference/ops/op_checks.h"

#include <array>

namespace het {
namespace {

constexpr std::array<std::string_view, 8> kAttributeTypeNames{
    "an int",           "a float",           "a string", "a list of ints",
    "a list of floats", "a list of strings", "a tensor", "a graph"};

}  // namespace

Status check_attributes(const Attributes& attributes, std::initializer_list<AttributeRule> rules) {
  for (const AttributeRule& rule : rules) {
    const Attribute* attribute = attributes.find(rule.name);
    const std::string_view wanted = kAttributeTypeNames[static_cast<size_t>(rule.type)];
    if (attribute == nullptr) {
      if (!rule.required) continue;
      return error(StatusCode::ParseError, "attribute '{}' ({}) is missing", rule.name, wanted);
    }
    if (attribute->index() != static_cast<size_t>(rule.type)) {
      return error(StatusCode::ParseError, "attribute '{}' is {}, but must be {}", rule.name,
                   kAttributeTypeNames[attribute->index()], wanted);
    }
  }
  return {};
}

Status check_input(const InferContext& context, size_t index, std::string_view name,
                   TypeSet allowed) {
  if (!context.has_input(index)) {
    return error(StatusCode::ParseError, "input {} '{}' is missing", index, name);
  }
  if (!allowed.contains(context.type(index))) {
    return error(StatusCode::NotSupported, "type {} of input {} '{}' is not supported",
                 to_string(context.type(index)), index, name);
  }
  return {};
}

Status check_optional_input(const InferContext& context, size_t index, std::string_view name,
                            TypeSet allowed) {
  return context.has_input(index) ? check_input(context, index, name, allowed) : Status();
}

Status check_same_type(const InferContext& context, size_t first, size_t second) {
  if (context.type(first) != context.type(second)) {
    return error(StatusCode::ShapeMismatch, "inputs {} and {} have types {} and {}, but must agree",
                 first, second, to_string(context.type(first)), to_string(context.type(second)));
  }
  return {};
}

Status check_rank(const InferContext& context, size_t index, std::string_view name,
                  int64_t min_rank, int64_t max_rank) {
  const int64_t rank = context.rank(index);
  if (rank >= min_rank && rank <= max_rank) return {};
  const std::string wanted = min_rank == max_rank   ? fmt::format("{}", min_rank)
                             : max_rank == kAnyRank ? fmt::format("at least {}", min_rank)
                                                    : fmt::format("{} to {}", min_rank, max_rank);
  return error(StatusCode::ShapeMismatch, "input {} '{}' has shape {}, but its rank must be {}",
               index, name, to_string(context.shape(index)), wanted);
}

Status check_input_shape(const InferContext& context, size_t index, std::string_view name,
                         const Shape& wanted) {
  if (!context.has_input(index) || context.shape(index) == wanted) return {};
  return error(StatusCode::ShapeMismatch, "input {} '{}' has shape {}, but must have {}", index,
               name, to_string(context.shape(index)), to_string(wanted));
}

Result<std::optional<std::vector<int64_t>>> known_ints(const InferContext& context, size_t index,
                                                       std::string_view name) {
  HET_TRY(check_input(context, index, name, kIndexTypes));
  HET_TRY(check_rank(context, index, name, 0, 1));
  const Tensor* content = context.constant(index);
  if (content == nullptr) return std::optional<std::vector<int64_t>>();
  HET_ASSIGN(std::vector<int64_t> values, to_int64_vector(*content));
  return std::optional(std::move(values));
}

Result<ElementType> index_type(const Attributes& attributes) {
  const std::string name = attributes.get_string("output_type", "i64");
  HET_ASSIGN(const ElementType type, parse_element_type(name));
  if (kIndexTypes.contains(type)) return type;
  return error(StatusCode::InvalidArgument, "output_type is '{}', but must be i32 or i64", name);
}

const Tensor* optional_input(const EvaluateContext& context, size_t index) {
  return context.has_input(index) ? &context.input(index) : nullptr;
}

Shape unknown_shape(int64_t rank) {
  return Shape(static_cast<size_t>(rank), kUnknownDim);
}

Result<std::vector<int64_t>> normalize_axes(const std::vector<int64_t>& axes, int64_t rank) {
  std::vector<int64_t> result;
  std::vector<bool> seen(static_cast<size_t>(rank));
  for (const int64_t axis : axes) {
    HET_ASSIGN(const int64_t normal, normalize_axis(axis, rank));
    if (seen[static_cast<size_t>(normal)]) {
      return error(StatusCode::InvalidArgument, "axis {} is given twice", axis);
    }
    seen[static_cast<size_t>(normal)] = true;
    result.push_back(normal);
  }
  return result;
}

}  // namespace het
