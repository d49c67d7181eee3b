#pragma once

#include <string_view>

namespace het {

/// Why this project does not run an operator that ONNX defines: it works on sequences, optionals or
/// strings, trains, or is classical machine learning. Empty for every other operator. Only asked
/// for operators that have no OpDef.
std::string_view out_of_scope_reason(std::string_view domain, std::string_view type);

}  // namespace het
