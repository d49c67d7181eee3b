#pragma once

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het {

/// One het.FakeQuantize by operators of ONNX, as express_in_onnx() says; the old node is detached.
Status express_fake_quantize(Model& model, Node& node);

}  // namespace het
