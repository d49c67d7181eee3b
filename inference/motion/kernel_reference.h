#pragma once

#include "inference/motion/motion_kernels.h"

namespace het::motion_internal {

/// The same in plain loops: for old machines, and what tests compare the vectors with.
const MotionKernels& reference_kernels();

}  // namespace het::motion_internal
