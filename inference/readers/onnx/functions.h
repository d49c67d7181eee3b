#pragma once

#include <deque>
#include <string>

#include "inference/base/status.h"
#include "inference/readers/onnx/parsed_model.h"

namespace het::onnx {

/// Puts the nodes of the file's own functions in the place of every node that calls one, in bodies
/// of control flow and in functions too. Inner names get the call's name in front ("call/inner"),
/// attributes that refer to the call's get its values or the function's defaults (or go, when there
/// is neither), and nodes remember the opset that their function imports.
/// `names` keeps the names that were made; it must outlive `model`.
/// Fails with ParseError on recursion, calls that do not fit and outputs that nothing computes, and
/// with OutOfMemory when the result exceeds a limit of limits.h.
Status expand_functions(ParsedModel& model, std::deque<std::string>& names);

}  // namespace het::onnx
