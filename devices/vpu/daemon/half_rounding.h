#pragma once

#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::vpu {

/// Makes a model (after prepare_model(), which finds the types of values) compute as a device does
/// that keeps float16 only: float32 constants are rounded to
/// float16, and an operator of our own rounds every float32 value of an input or node. The ports
/// stay as they are.
Status round_to_half(Model& model);

}  // namespace het::vpu
