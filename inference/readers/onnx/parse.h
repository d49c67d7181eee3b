#pragma once

#include <string>
#include <string_view>

#include "inference/base/status.h"
#include "inference/readers/onnx/parsed_model.h"

namespace het::onnx {

/// Takes a ModelProto apart. Fails with ParseError, naming the place in the file, and OutOfMemory
/// when a limit of limits.h is exceeded. The result refers to `bytes`.
Result<ParsedModel> parse_model(std::string_view bytes, const std::string& origin);

/// The same for a lone TensorProto.
Result<ParsedTensor> parse_tensor(std::string_view bytes, const std::string& origin);

}  // namespace het::onnx
