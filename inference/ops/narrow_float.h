#pragma once

#include <cstdint>

#include "inference/tensors/element_type.h"

namespace het {

/// True for Float4E2M1 and the Float8 types.
bool is_narrow_float(ElementType type);

/// Rounding to Float8E8M0, ONNX' `round_mode`: to the power of two above, below or nearest.
enum class PowerRounding { Up, Down, Nearest };

/// Value of the low bits of `bits` as a narrow float type.
float narrow_to_float(ElementType type, uint8_t bits);

/// Nearest narrow float, ties to even, by the tables of ONNX' Cast: with `saturate` what is too
/// large, infinity included, becomes the largest finite value, without it NaN (infinity in
/// Float8E5M2). Float4E2M1 always saturates and makes -0 of NaN and 0 of -NaN, as ml_dtypes does.
/// Float8E8M0 has no sign: the magnitude counts; its zero is the smallest value with `saturate`.
uint8_t float_to_narrow(ElementType type, double value, bool saturate = true,
                        PowerRounding rounding = PowerRounding::Up);

}  // namespace het
