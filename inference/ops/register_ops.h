#pragma once

#include "inference/ops/op.h"

namespace het {

/// Adds every operator of the meson list, by plain calls.
void register_ops(OpRegistry& registry);

}  // namespace het
