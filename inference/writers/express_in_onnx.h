#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het {

/// Rewrites what other readers of ONNX do not know and ONNX can express: FakeQuantize becomes
/// QuantizeLinear and DequantizeLinear where its limits are constant and its levels are those of 8
/// bits (weights become stored integers), otherwise arithmetic; bytes that are cast and multiplied
/// become DequantizeLinear; NormalizeL2 becomes arithmetic; the grid of GridSample gets the type of
/// the picture. Results are the same up to rounding. Bodies of control flow stay as they are.
HET_API Status express_in_onnx(Model& model);

/// The opset to write the model with so that as many readers as possible know it: 20, the last one
/// whose operators ONNX Runtime has throughout, or the one that brought the newest operator or type
/// of the model.
HET_API int64_t oldest_opset(const Model& model);

/// What of the model ONNX Runtime has no operator for, a sentence each: "het.PSROIPooling (node
/// 'pool' and 2 more) is no operator of ONNX Runtime". Empty where it has all.
HET_API std::vector<std::string> unknown_to_onnx_runtime(const Model& model);

}  // namespace het
