#pragma once

#include <memory>
#include <string>

#include "inference/core.h"
#include "inference/vision_model.h"
#include "stream_shares.h"

namespace het::gst {

/// A model and, where elements may share it, what divides it among them; else null.
struct SharedModel {
  std::shared_ptr<VisionModel> model;
  std::shared_ptr<StreamShares> shares;
};

/// Loads the model, or takes the one that another element of the process has loaded under the same
/// non-empty `instance_id`. Then the settings must agree, or `wanted.model` is empty: use what is
/// there. A model is freed with its last user. Thread-safe; loading with an id happens one after
/// the other.
Result<SharedModel> shared_model(Core& core, const std::string& instance_id,
                                 const VisionModelSettings& wanted);

}  // namespace het::gst
