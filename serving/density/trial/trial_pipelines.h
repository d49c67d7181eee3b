#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/density/trial_order.h"
#include "serving/launch/instance/pipeline_elements.h"

namespace het::density {

/// As many copies of an order's pipeline as it wants, in NULL, with its device in each inference
/// element. Fails with InvalidArgument: what GStreamer says, no sink, a --sink of another name, no
/// source, no inference element for the device. `notes` gets what the user should know.
Result<std::vector<serving::ElementRef>> make_trial_pipelines(const TrialOrder& order,
                                                              std::vector<std::string>& notes);

}  // namespace het::density
