#pragma once

#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// Loops over rows of floats, vectorised for the processor they run on. Sums are taken in one fixed
/// order for a given instruction set, whatever thread runs them.

enum class Accumulation : uint8_t { Sum, SumSquare, SumAbs, Max, Min };

/// Sum, maximum ... of `count` >= 1 neighbouring values.
float reduce_row(Accumulation kind, const float* values, size_t count);

}  // namespace het::cpu
