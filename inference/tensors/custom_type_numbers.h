#pragma once

#include <cstdint>

#include "inference/custom_types.h"
#include "inference/tensors/element_type.h"

namespace het {

/// HET_TYPE_... of a type; 0 when the C interfaces have none for it.
int32_t custom_type_number(ElementType type);
/// The reverse; Undefined for an unknown number.
ElementType custom_type(int32_t number);

}  // namespace het
