#pragma once

#include "inference/passes/fusions/int8/int8_passes.h"

namespace het::cpu {

/// What the kernels of DequantizeLinear, the program and QuantizeLinear make of each byte.
ByteTable make_byte_table(const ByteFunction& function);

}  // namespace het::cpu
