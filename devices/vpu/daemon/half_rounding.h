#pragma once

#include "inference/model.h"
#include "inference/status.h"

namespace het::vpu {

/// Makes a model compute as a device does that keeps float16 only: float32 constants are rounded to
/// float16, and every float32 value of an input or node passes through it, by two Casts. The ports
/// stay as they are.
Status round_to_half(Model& model);

}  // namespace het::vpu
