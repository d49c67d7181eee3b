#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/multi/list.h"
#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// "MULTI:GPU(2),CPU": the whole model on every device; each request runs on one of them. Without
/// devices ("MULTI") it only has properties.
Result<std::shared_ptr<Device>> make_multi_device(Core& core, std::string_view arguments);

/// Compiles a model for each of the devices; those that cannot run it are left out with a warning.
/// `full_name` is the composite device's, whose own properties `own` names. Fails with
/// NotSupported and everyone's reasons where none can.
Result<std::shared_ptr<CompiledModel>> compile_for_all(const std::string& full_name,
                                                       const std::vector<LimitedMember>& members,
                                                       const Model& model,
                                                       const Properties& properties,
                                                       std::span<const std::string_view> own);

/// For every node the first of the devices that runs the whole model; where none does, why not.
Result<std::vector<NodeSupport>> query_any(const std::vector<LimitedMember>& members,
                                           const Model& model, const Properties& properties,
                                           std::span<const std::string_view> own);

}  // namespace het::hetero
