#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::gpu {

/// Sizes of a tensor that formulas call B, F, Y and X.
using FormulaSizes = std::array<int64_t, 4>;

/// An integer formula over B, F, Y and X with + - * / % and parentheses, e.g. "(X+7)/8". Fails with
/// ParseError where the text is none, with InvalidArgument for a division by zero and for values
/// beyond 2^40 on the way.
Result<int64_t> evaluate_formula(std::string_view text, const FormulaSizes& sizes);

/// Up to three formulas separated by commas, each with a value from 1 to 2^31 - 1; none for a blank
/// text.
Result<std::vector<size_t>> evaluate_work_sizes(std::string_view text, const FormulaSizes& sizes);

}  // namespace het::gpu
