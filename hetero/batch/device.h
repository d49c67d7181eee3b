#pragma once

#include <memory>
#include <string_view>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// BATCH: collects requests for another device into batches. `arguments` is what follows the colon:
/// "GPU(8)" for batches of 8; "GPU" for what the device calls its OPTIMAL_BATCH_SIZE, else 8 or
/// PERFORMANCE_HINT_NUM_REQUESTS where that is less.
Result<std::shared_ptr<Device>> make_batch_device(Core& core, std::string_view arguments);

}  // namespace het::hetero
