#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "inference/base/status.h"
#include "inference/model/attributes.h"
#include "inference/tensors/element_type.h"

namespace het {

/// How ScatterElements and ScatterND combine an update with what is there.
enum class ScatterReduction { None, Add, Mul, Max, Min };

/// The attribute `reduction`; fails on an unknown one and on arithmetic with a type that has none.
Result<ScatterReduction> scatter_reduction(const Attributes& attributes, ElementType type);

/// Combines `count` elements at dst with those at src. Half types are rounded after every update,
/// integers wrap around.
Status scatter_combine(ScatterReduction reduction, ElementType type, std::byte* dst,
                       const std::byte* src, size_t count);

}  // namespace het
