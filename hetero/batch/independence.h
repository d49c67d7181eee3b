#pragma once

#include <cstddef>
#include <vector>

#include "hetero/batch/item_flow.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// Runs random items and fails with NotSupported, naming the output, where items of a batch are not
/// computed one independently of the other: where a result changes when another item does, or lies
/// far from what a model of one item gives. `batched` takes `batch` items where `single` takes one.
/// Outputs that are taken apart by rows are left out: which boxes are found among random ones may
/// hang on a rounding. Nothing is found out where random items cannot be run (types without a
/// random value, indices that a model refuses); that is logged and no failure.
Status check_independence(CompiledModel& single, CompiledModel& batched, size_t batch,
                          const std::vector<OutputCut>& outputs);

}  // namespace het::hetero
