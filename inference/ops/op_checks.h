#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/ops/op.h"
#include "inference/tensors/element_type.h"

namespace het {

/// A set of element types that an operator accepts.
class TypeSet {
 public:
  constexpr TypeSet(std::initializer_list<ElementType> types) {
    for (ElementType type : types) bits_ |= bit(type);
  }
  constexpr bool contains(ElementType type) const { return (bits_ & bit(type)) != 0; }
  constexpr TypeSet operator|(TypeSet other) const { return TypeSet(bits_ | other.bits_); }

 private:
  explicit constexpr TypeSet(uint32_t bits) : bits_(bits) {}
  static constexpr uint32_t bit(ElementType type) { return 1u << static_cast<unsigned>(type); }
  uint32_t bits_ = 0;
};

inline constexpr TypeSet kBoolOnly{ElementType::Bool};
inline constexpr TypeSet kFloat32Only{ElementType::Float32};
inline constexpr TypeSet kFloatTypes{ElementType::Float16, ElementType::BFloat16,
                                     ElementType::Float32, ElementType::Float64};
inline constexpr TypeSet kSignedIntegers{ElementType::Int8, ElementType::Int16, ElementType::Int32,
                                         ElementType::Int64};
inline constexpr TypeSet kUnsignedIntegers{ElementType::UInt8, ElementType::UInt16,
                                           ElementType::UInt32, ElementType::UInt64};
inline constexpr TypeSet kIntegers = kSignedIntegers | kUnsignedIntegers;
inline constexpr TypeSet kNumbers = kIntegers | kFloatTypes;
/// Types with arithmetic in every operator that ONNX gives it, and bool.
inline constexpr TypeSet kNumbersAndBool = kNumbers | kBoolOnly;
/// Everything that can be moved byte by byte.
inline constexpr TypeSet kWholeByteTypes =
    kNumbersAndBool | TypeSet{ElementType::Float8E4M3FN, ElementType::Float8E4M3FNUZ,
                              ElementType::Float8E5M2, ElementType::Float8E5M2FNUZ,
                              ElementType::Float8E8M0};
/// Everything that has a size, packed types included.
inline constexpr TypeSet kAllTypes =
    kWholeByteTypes | TypeSet{ElementType::Int2, ElementType::UInt2, ElementType::Int4,
                              ElementType::UInt4, ElementType::Float4E2M1};
/// Types of indices, axes and shapes.
inline constexpr TypeSet kIndexTypes{ElementType::Int32, ElementType::Int64};

/// Alternatives of Attribute, in its order.
enum class AttributeType : uint8_t { Int, Float, String, Ints, Floats, Strings, Tensor, Graph };

struct AttributeRule {
  std::string_view name;
  AttributeType type;
  bool required = false;
};

/// Fails when an attribute of the list has another type or a required one is absent; attributes
/// that are not listed are ignored, as ONNX' own checker does for older ones.
Status check_attributes(const Attributes& attributes, std::initializer_list<AttributeRule> rules);

/// Fails when input `index` is omitted or has a type outside `allowed`; `name` is ONNX' name for
/// it.
Status check_input(const InferContext& context, size_t index, std::string_view name,
                   TypeSet allowed);
/// check_input() for an input that may be omitted.
Status check_optional_input(const InferContext& context, size_t index, std::string_view name,
                            TypeSet allowed);
/// Fails when the two inputs, both present, differ in type.
Status check_same_type(const InferContext& context, size_t first, size_t second);
/// Fails when the rank of a present input is outside [min_rank, max_rank].
Status check_rank(const InferContext& context, size_t index, std::string_view name,
                  int64_t min_rank, int64_t max_rank);

/// Fails when a present input has another shape.
Status check_input_shape(const InferContext& context, size_t index, std::string_view name,
                         const Shape& wanted);

inline constexpr int64_t kAnyRank = INT64_MAX;

/// Checks that an input is a list of integers (rank 1, or a scalar where ONNX' tools write one) and
/// reads it when it is known; null content gives nothing.
Result<std::optional<std::vector<int64_t>>> known_ints(const InferContext& context, size_t index,
                                                       std::string_view name);

/// The attribute output_type, a type of kIndexTypes: "i64" where it is absent.
Result<ElementType> index_type(const Attributes& attributes);

/// Null where the input is omitted.
const Tensor* optional_input(const EvaluateContext& context, size_t index);

/// A shape of this rank with nothing known, for outputs that wait for an input's content.
Shape unknown_shape(int64_t rank);

/// Axes of a list in [0, rank), in its order; fails on an axis out of range or given twice.
Result<std::vector<int64_t>> normalize_axes(const std::vector<int64_t>& axes, int64_t rank);

}  // namespace het
