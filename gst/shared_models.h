#pragma once

#include <memory>
#include <string>

#include "inference/core.h"
#include "inference/vision_model.h"

namespace het::gst {

/// Loads the model, or takes the one that another element of the process has loaded under the same
/// non-empty `instance_id`. Then the settings must agree, or `wanted.model` is empty: use what is
/// there. A model is freed with its last user. Thread-safe; loading with an id happens one after
/// the other.
Result<std::shared_ptr<VisionModel>> shared_model(Core& core, const std::string& instance_id,
                                                  const VisionModelSettings& wanted);

}  // namespace het::gst
