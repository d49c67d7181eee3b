#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/shape.h"

/// Numbers as IR files spell them. All functions fail with ParseError and the text.
namespace het::ir {

/// "3", "-1"; also "16.0", as older converters wrote integers.
Result<int64_t> parse_integer(std::string_view text);
/// "0.5", "1e-5", "inf", "-nan(ind)".
Result<float> parse_real(std::string_view text);
/// "true", "True", "1", "false" ...
Result<bool> parse_flag(std::string_view text);
/// "1, 2,3"; blank text is an empty list.
Result<std::vector<int64_t>> parse_integers(std::string_view text);
Result<std::vector<float>> parse_reals(std::string_view text);
/// Dimensions: "1,3,?,-1,2..10"; unknown and bounded ones give kUnknownDim. A shape of unknown rank
/// ("...") fails with NotSupported.
Result<Shape> parse_dims(std::string_view text);
std::string_view trimmed(std::string_view text);

/// [0, rank) with the entry at `from` moved to `to`.
std::vector<int64_t> moved(int64_t rank, int64_t from, int64_t to);

}  // namespace het::ir
