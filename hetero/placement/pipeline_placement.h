#pragma once

#include "hetero/placement/placement.h"
#include "inference/base/status.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"

namespace het::hetero {

/// Whether nodes are placed by the devices' memory: MODEL_DISTRIBUTION_POLICY=PIPELINE_PARALLEL.
/// Fails with NotSupported for TENSOR_PARALLEL, with InvalidArgument beside a HETERO_POLICY that
/// places them otherwise.
Result<bool> is_pipeline_parallel(const Properties& properties);

/// Lets each device of the list take as many nodes, in the order of the model, as its memory has
/// room for weights and a fifth more (OpenVINO's margin): the table then refuses later ones there,
/// so that place_by_priority() places them on the next device. A constant counts once on a device.
/// Nodes that the user wishes somewhere come first, and the last device that supports a node takes
/// it in any case, with a warning where that is too much. Memory is GPU_DEVICE_TOTAL_MEM_SIZE or
/// DEVICE_TOTAL_MEM_SIZE of the device; without either there is no limit. The table's note says
/// what each has.
void limit_to_memory(const Model& model, SupportTable& table);

}  // namespace het::hetero
