#pragma once

#include <memory>

#include "inference/devices/device.h"
#include "inference/requests/exclusive_queue.h"

namespace het {

/// The same device, whose models that were compiled (or imported) with
/// EXCLUSIVE_ASYNC_REQUESTS=YES run their requests through `queue`, one at a time. Others are the
/// device's own.
std::shared_ptr<Device> with_exclusive_requests(std::shared_ptr<Device> device,
                                                std::shared_ptr<ExclusiveQueue> queue);

}  // namespace het
