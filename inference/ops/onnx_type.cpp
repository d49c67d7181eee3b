#include "inference/ops/onnx_type.h"

#include <array>

namespace het {
namespace {

/// Indexed by TensorProto.DataType (onnx.proto of ONNX 1.20).
constexpr std::array kTypes{
    ElementType::Undefined,  ElementType::Float32,        ElementType::UInt8,
    ElementType::Int8,       ElementType::UInt16,         ElementType::Int16,
    ElementType::Int32,      ElementType::Int64,          ElementType::Undefined,  // string
    ElementType::Bool,       ElementType::Float16,        ElementType::Float64,
    ElementType::UInt32,     ElementType::UInt64,         ElementType::Undefined,  // complex64
    ElementType::Undefined,                                                        // complex128
    ElementType::BFloat16,   ElementType::Float8E4M3FN,   ElementType::Float8E4M3FNUZ,
    ElementType::Float8E5M2, ElementType::Float8E5M2FNUZ, ElementType::UInt4,
    ElementType::Int4,       ElementType::Float4E2M1,     ElementType::Float8E8M0,
    ElementType::UInt2,      ElementType::Int2,
};

}  // namespace

Result<ElementType> element_type_from_onnx(int64_t code) {
  if (code == 8) return error(StatusCode::NotSupported, "tensors of strings are not supported");
  if (code == 14 || code == 15) {
    return error(StatusCode::NotSupported, "tensors of complex numbers are not supported");
  }
  if (code == 27 || code == 28) {
    return error(StatusCode::NotSupported, "tensors of 6-bit floats are not supported");
  }
  if (code <= 0 || code >= static_cast<int64_t>(kTypes.size())) {
    return error(StatusCode::ParseError, "{} is not a number of ONNX' TensorProto.DataType", code);
  }
  return kTypes[static_cast<size_t>(code)];
}

int64_t onnx_type_code(ElementType type) {
  if (type == ElementType::Undefined) return 0;
  for (size_t code = 1; code < kTypes.size(); ++code) {
    if (kTypes[code] == type) return static_cast<int64_t>(code);
  }
  return 0;
}

}  // namespace het
