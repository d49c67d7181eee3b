#pragma once

#include <memory>
#include <string_view>

#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::ref {

/// The reference device: runs each operator's evaluate() in the model's own types, node after node.
/// Exists once, so `id` must be empty.
Result<std::shared_ptr<Device>> make_device(Core& core, std::string_view id);

}  // namespace het::ref
