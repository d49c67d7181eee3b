#include "inference/tensors/custom_type_numbers.h"

#include <array>

namespace het {
namespace {

struct TypeNumber {
  ElementType type;
  int32_t number;
};
constexpr std::array<TypeNumber, 9> kTypeNumbers{{{ElementType::Float32, HET_TYPE_FLOAT32},
                                                  {ElementType::Float16, HET_TYPE_FLOAT16},
                                                  {ElementType::Float64, HET_TYPE_FLOAT64},
                                                  {ElementType::Int8, HET_TYPE_INT8},
                                                  {ElementType::UInt8, HET_TYPE_UINT8},
                                                  {ElementType::Int32, HET_TYPE_INT32},
                                                  {ElementType::Int64, HET_TYPE_INT64},
                                                  {ElementType::Bool, HET_TYPE_BOOL},
                                                  {ElementType::BFloat16, HET_TYPE_BFLOAT16}}};

}  // namespace

int32_t custom_type_number(ElementType type) {
  for (const TypeNumber& known : kTypeNumbers) {
    if (known.type == type) return known.number;
  }
  return 0;
}

ElementType custom_type(int32_t number) {
  for (const TypeNumber& known : kTypeNumbers) {
    if (known.number == number) return known.type;
  }
  return ElementType::Undefined;
}

}  // namespace het
